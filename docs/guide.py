#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes uvperf-NAME(7) of each guide, from doxygen's XML.

    guide.py --date 2026-11-24 --out DIR XMLDIR MAN3DIR
"""
import argparse
import glob
import os
import re
import sys
import xml.etree.ElementTree as ET

from mdoc import escape, mdoc_date, put_paragraphs, words_of

# Characters that doxygen makes elements of.
CHARACTERS = {'mdash': '\u2014', 'ndash': '\u2013', 'nonbreakablespace': ' '}


def page_of(refid):
    """The name of the page that has a guide's heading."""
    return 'uvperf-' + refid.split('_')[1]


def flatten(root):
    """Turns links and characters into text."""
    for node in root.iter():
        refid = node.get('refid') or ''
        if node.tag == 'ref' and refid.startswith('guide_'):
            page = page_of(refid) + '(7)'
            text = words_of(node)
            for child in list(node):
                node.remove(child)
            node.text = page if text.endswith('.md') else \
                '%s (%s)' % (text, page)
        elif node.tag == 'ulink' and node.get('url', '').startswith('http'):
            node.text = '%s <%s>' % (words_of(node), node.get('url'))
        elif node.tag in CHARACTERS:
            node.text = CHARACTERS[node.tag]


def put_sections(out, node):
    put_paragraphs(out, node)
    for section in node:
        if re.match('sect[1-4]$', section.tag):
            out.append('.Ss ' + escape(words_of(section.find('title'))))
            put_sections(out, section)


def page(compound, date, others):
    """The lines of a page."""
    flatten(compound)
    name = page_of(compound.get('id'))
    title = words_of(compound.find('title'))
    details = compound.find('detaileddescription')
    out = ['.\\" Made of samples/guides/%s.md: change that.' % name[7:],
           '.Dd ' + mdoc_date(date), '.Dt %s 7' % name.upper(), '.Os',
           '.Sh NAME', '.Nm ' + name,
           '.Nd ' + escape(title[:1].lower() + title[1:]),
           '.Sh DESCRIPTION']
    put_sections(out, details)
    text = ' '.join(details.itertext())
    seen = {(found, 3) for found in re.findall(r'\buvperf_\w+', text)
            if found in others}
    seen |= {(found, 7) for found in re.findall(r'(uvperf-\w[\w-]*)\(7\)', text)
             if found != name}
    pairs = sorted(seen | {('uvperf', 7)}, key=lambda pair: pair[::-1])
    out.append('.Sh SEE ALSO')
    out.extend('.Xr %s %d ,' % pair for pair in pairs)
    out[-1] = out[-1][:-2]
    return name, out


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--date', required=True)
    parser.add_argument('--out', required=True)
    parser.add_argument('xml')
    parser.add_argument('man3')
    options = parser.parse_args()
    others = {name[:-2] for name in os.listdir(options.man3)}
    guides = sorted(glob.glob(os.path.join(options.xml, 'guide_*.xml')))
    if not guides:
        sys.exit('guide.py: no guides in ' + options.xml)
    os.makedirs(options.out, exist_ok=True)
    for path in guides:
        compound = ET.parse(path).getroot().find('compounddef')
        name, lines = page(compound, options.date, others)
        with open(os.path.join(options.out, name + '.7'), 'w') as file:
            file.write('\n'.join(lines) + '\n')


if __name__ == '__main__':
    main()
