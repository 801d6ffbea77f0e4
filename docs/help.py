#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes manual pages in mdoc(7) from the --help of programs.

    help.py --date 2026-11-24 --out DIR PROGRAM...
"""
import argparse
import itertools
import os
import re
import subprocess

from mdoc import escape, mdoc_date, put_literal, put_text

INDENT = '  '


def put_tag(out, text):
    """"-p PID, --pid PID" as flags with their arguments."""
    words = []
    for i, piece in enumerate(text.split(', ')):
        if i > 0:
            words.append(',')
        for word in piece.split():
            if word == '--':
                words.append('Fl -')
            elif word.startswith('-'):
                option, equals, rest = re.match(
                    r'-(-?[\w-]+)([=\[]?)(.*)$', word).groups()
                words.append('Fl ' + option)
                if equals:
                    words.append('Ns Ar "%s"' % (equals + rest))
            else:
                words.append('Ar "%s"' % word)
    out.append('.It ' + ' '.join(words))


def split_entry(line):
    """"  -p PID   text" is ("-p PID", "text"); None for another line."""
    if not re.match(r'  (-|[a-z]+\.\.\.)', line):
        return None
    tag, _, text = line[2:].partition('  ')
    known = re.match(r'((?:-[\w,-]+ )+)(?=[a-z])', tag)
    if not text and known and re.match(r'-\S+, --\S+ [a-z]+ ', tag):
        return known.group(1).strip(), tag[known.end():]
    return tag, text.strip()


class Page:
    def __init__(self, out):
        self.out = out
        self.items = False
        self.begun = False     # needs space before the next text
        self.is_list = False   # "Not here": text, although it has options

    def end_items(self):
        if self.items:
            self.out.append('.El')
            self.begun = True
        self.items = False

    def heading(self, text):
        self.end_items()
        self.out.append('.Ss ' + escape(text))
        self.begun = False
        self.is_list = text.startswith('Not here')

    def entry(self, tag, text):
        if not self.items:
            self.out.append('.Bl -tag -width Ds')
        self.items = True
        put_tag(self.out, tag)
        put_text(self.out, text)

    def paragraph(self, text):
        self.end_items()
        if self.begun:
            self.out.append('.Pp')
        put_text(self.out, text)
        self.begun = True

    def literal(self, lines):
        self.end_items()
        put_literal(self.out, '\n'.join(lines))
        self.begun = True


def blocks_of(lines):
    """Blocks of lines that blank lines separate."""
    block = []
    for line in lines + ['']:
        if line.strip():
            block.append(line)
        elif block:
            yield block
            block = []


def put_entries(page, block):
    tag, text = None, ''
    for line in block:
        entry = split_entry(line)
        if entry is None:
            text += ' ' + line.strip()
            continue
        if tag is not None:
            page.entry(tag, text)
        tag, text = entry
    page.entry(tag, text)


def put_block(page, block):
    first = block[0]
    if len(block) == 1 and re.match(r'[A-Z].*:$', first):
        page.heading(first[:-1])
    elif re.match(r'[A-Z].*:$', first) and split_entry(block[1]):
        page.heading(first[:-1])
        put_block(page, block[1:])
    elif first.startswith('Exit status:'):
        page.end_items()
        page.out.append('.Sh EXIT STATUS')
        page.begun = False
        text = ' '.join(line.strip() for line in block)
        page.paragraph(text[len('Exit status: '):])
    elif split_entry(first) and not page.is_list:
        put_entries(page, block)
    elif first.startswith(INDENT):
        page.literal(block)
    else:
        for is_code, lines in itertools.groupby(
                block, lambda line: line.startswith(INDENT)):
            if is_code:
                page.literal(list(lines))
            else:
                page.paragraph(' '.join(lines))


def page_of(name, text, date):
    blocks = list(blocks_of(text.split('\n')))
    usage = [re.sub(r'^(Usage:|      )', '', line) for line in blocks[0]]
    brief = ' '.join(line.strip() for line in blocks[1])
    brief = re.split(r'[.:](?: |$)', brief)[0]
    out = ['.\\" Made from %s --help: change that.' % name,
           '.Dd ' + mdoc_date(date), '.Dt %s 1' % name.upper(), '.Os',
           '.Sh NAME', '.Nm ' + name,
           '.Nd ' + escape(brief[:1].lower() + brief[1:]), '.Sh SYNOPSIS']
    put_literal(out, '\n'.join(usage))
    out.append('.Sh DESCRIPTION')
    page = Page(out)
    for block in blocks[1:]:
        put_block(page, block)
    page.end_items()
    out += ['.Sh SEE ALSO', '.Xr uvperf 7 ,', '.Xr uvperf-events 7']
    return '\n'.join(out) + '\n'


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--date', required=True)
    parser.add_argument('--out', required=True)
    parser.add_argument('programs', nargs='*')
    options = parser.parse_args()
    os.makedirs(options.out, exist_ok=True)
    for program in options.programs:
        name = os.path.basename(program)
        text = subprocess.run([program, '--help'], check=True, text=True,
                              stdout=subprocess.PIPE).stdout
        with open(os.path.join(options.out, name + '.1'), 'w') as file:
            file.write(page_of(name, text, options.date))


if __name__ == '__main__':
    main()
