#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Completes doxygen's HTML: adds the pages of the tools, uvperf(7) and
uvperf-events(7), and turns names of pages into links.

    html.py --man DIR XMLDIR HTMLDIR
"""
import argparse
import glob
import os
import re
import subprocess
import xml.etree.ElementTree as ET

PAGE = '''<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>%s</title>
<meta name="viewport" content="width=device-width,initial-scale=1">
<link href="doxygen.css" rel="stylesheet"><link href="html.css" rel="stylesheet">
</head><body><div class="contents">
<p><a href="index.html">uvperf</a></p>
%s</div></body></html>
'''


def symbols(xml, html):
    """The place in HTML of each symbol that has one, and of each header, by the
    name of its page."""
    places, anchors = {}, {}
    for path in glob.glob(os.path.join(html, '*_8h.html')):
        with open(path) as file:
            anchors[os.path.basename(path)] = set(
                re.findall(r' id="([^"]*)"', file.read()))
    index = ET.parse(os.path.join(xml, 'index.xml')).getroot()
    for compound in index.findall('compound'):
        name, refid = compound.findtext('name'), compound.get('refid')
        if compound.get('kind') == 'struct':
            places[re.sub('_s$', '_t', name)] = refid + '.html'
        for member in compound.findall('member'):
            if compound.get('kind') == 'file':
                file, _, anchor = member.get('refid').rpartition('_1')
                if anchor in anchors.get(file + '.html', ()):
                    places[member.findtext('name')] = file + '.html#' + anchor
        if compound.get('kind') == 'file' and name.endswith('.h'):
            page = name if name == 'uvperf.h' else 'uvperf_' + name
            places[page] = refid + '.html'
    return places


def place_of(name, section, places, html):
    """Where a page's text is in HTML, or None."""
    if section == '3':
        return places.get(name)
    guide = 'guide_%s.html' % name[len('uvperf-'):]
    for file in ('%s.%s.html' % (name, section), guide):
        if os.path.exists(os.path.join(html, file)) and \
                (section == '7' or file != guide):
            return file
    return None


def convert(path, places, html):
    """A manual page as HTML; links that lead nowhere become text."""
    text = subprocess.run(
        ['mandoc', '-Thtml', '-O', 'fragment,man=%N.%S', path], check=True,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()

    def link(match):
        name, _, section = match.group(1).rpartition('.')
        place = place_of(name, section, places, html)
        return '<a href="%s">%s</a>' % (place, match.group(2)) \
            if place else match.group(2)
    return re.sub(r'<a class="Xr" href="([^"]*)">(.*?)</a>', link, text,
                  flags=re.S)


# Inside of these nothing becomes a link.
SILENT = ('a', 'title', 'script', 'style', 'h1', 'h2', 'h3')


def texts(html):
    """The pieces of a page: tags, and texts with whether they may have links."""
    inside = []
    for piece in re.split('(<[^>]*>)', html):
        tag = re.match('<(/?)([a-z0-9]+)', piece)
        if not tag:
            yield piece, not inside
            continue
        if tag.group(1):
            if tag.group(2) in inside:
                inside.remove(tag.group(2))
        elif (tag.group(2) in SILENT or 'class="memname"' in piece) and \
                not piece.endswith('/>'):
            inside.append(tag.group(2))
        yield piece, False


def complete(path, places, html):
    """Names of pages and symbols in doxygen's text; anchors that only tell
    where the sources were."""
    with open(path) as file:
        text = file.read()
    text = re.sub(r'<a class="anchor" id="md_[^"]*"></a>', '', text)

    def link(match):
        name = match.group(1) or match.group(3)
        place = place_of(name, match.group(2) or '3', places, html)
        return '<a href="%s">%s</a>' % (place, match.group()) \
            if place else match.group()
    name = re.compile(r'\b(uvperf(?:-[a-z]+)*)\(([17])\)|'
                      r'\b((?:uvperf|UVPERF)_\w+(?:\.h)?)')
    with open(path, 'w') as file:
        for piece, may_link in texts(text):
            file.write(name.sub(link, piece) if may_link else piece)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--man', required=True)
    parser.add_argument('xml')
    parser.add_argument('html')
    options = parser.parse_args()
    places = symbols(options.xml, options.html)
    pages = glob.glob(os.path.join(options.man, 'man1', '*.1'))
    pages += [os.path.join(options.man, 'man7', name + '.7')
              for name in ('uvperf', 'uvperf-events')]
    files = [os.path.join(options.html, os.path.basename(page) + '.html')
             for page in pages]
    for file in files:  # so that they find each other
        open(file, 'w').close()
    for page, file in zip(pages, files):
        text = convert(page, places, options.html)
        with open(file, 'w') as out:
            out.write(PAGE % (os.path.basename(page), text))
    for path in glob.glob(os.path.join(options.html, '*.html')):
        if path not in files:
            complete(path, places, options.html)


if __name__ == '__main__':
    main()
