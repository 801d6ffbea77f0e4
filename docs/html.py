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


def symbols(xml):
    """The place in HTML of each symbol and header, by the name of its page."""
    places = {}
    index = ET.parse(os.path.join(xml, 'index.xml')).getroot()
    for compound in index.findall('compound'):
        name, refid = compound.findtext('name'), compound.get('refid')
        if compound.get('kind') == 'struct':
            places[re.sub('_s$', '_t', name)] = refid + '.html'
        for member in compound.findall('member'):
            if compound.get('kind') == 'file':
                file, _, anchor = member.get('refid').rpartition('_1')
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


def complete(path, places, html):
    """Names of pages in doxygen's text; anchors that only tell where the
    sources were."""
    with open(path) as file:
        text = file.read()
    text = re.sub(r'<a class="anchor" id="md_[^"]*"></a>', '', text)

    def link(match):
        place = place_of(match.group(1), match.group(2), places, html)
        return '<a href="%s">%s</a>' % (place, match.group()) \
            if place else match.group()
    text = re.sub(r'\b(uvperf(?:-[a-z]+)*)\(([17])\)(?![^<]*</a>|[^<]*>)',
                  link, text)
    with open(path, 'w') as file:
        file.write(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--man', required=True)
    parser.add_argument('xml')
    parser.add_argument('html')
    options = parser.parse_args()
    places = symbols(options.xml)
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
