#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes manual pages in mdoc(7) from doxygen's XML: a page for each function,
callback, struct and enum, a page for each header with its constants, and
uvperf-events(7) from the comments about names of events.

    man.py --date 2026-11-24 --samples DIR --out DIR XMLDIR
"""
import argparse
import os
import re
import sys
import xml.etree.ElementTree as ET

from mdoc import (escape, mdoc_date, put_inline, put_literal, put_paragraphs,
                  rows_of, words_of)

# Texts for parameters that need no comment.
USUAL = {
    'uvperf_handle_t *': 'The handle in an event, a set or a reader.',
    'uvperf_event_t': 'The handle.',
    'uvperf_set_t': 'The handle.',
    'uvperf_bpf_reader_t': 'The handle.',
    'uvperf_meter_t': 'The meter.',
    'uvperf_error_t': 'Receives why it failed; may be NULL.',
    'const uvperf_record_t': 'From a callback, next or decode.',
    'const struct perf_branch_entry': "From a sample's branch stack.",
    'const uvperf_event_name_t': 'Valid until the callback returns.',
    'const uvperf_pmu_t': 'Valid until the callback returns.',
    'const uvperf_pmu_format_t': 'Valid until the callback returns.',
    'const uvperf_pmu_event_t': 'Valid until the callback returns.',
    'uint16_t misc': "The record's misc.",
    'uint64_t transaction': "The sample's transaction.",
    'void *arg': 'The arg that was passed with the callback.',
}

# The sections of uvperf-events(7): comments that begin with "@page NAME Title".
EVENTS = ('events_names', 'events_kinds', 'events_terms', 'events_chains',
          'events_modifiers', 'events_lists', 'events_patterns',
          'events_probes', 'events_symbols', 'events_cores', 'events_labels',
          'events_differences', 'events_examples')


FAULTS = []


def fault(message):
    FAULTS.append('man.py: ' + message)


# -- the parts of a page -----------------------------------------------------

def brief_of(member):
    brief = words_of(member.find('briefdescription'))
    return re.sub(r'[.:;]$', '', brief[:1].lower() + brief[1:]
                  if brief[1:2].islower() or brief[:2] == 'A ' else brief)


def description(out, member):
    is_first = put_paragraphs(out, member.find('briefdescription'))
    put_paragraphs(out, member.find('detaileddescription'), is_first)


def short_description(out, member):
    """The same, but the first sentence is not a paragraph of its own."""
    put_paragraphs(out, member.find('briefdescription'))
    put_paragraphs(out, member.find('detaileddescription'))


def parameter_texts(member):
    """The comment of each parameter by its name."""
    texts = {}
    for item in member.iter('parameteritem'):
        for name in item.iter('parametername'):
            texts[name.text] = item.find('parameterdescription')
    return texts


def put_parameters(out, name, parameters, texts):
    if not parameters:
        return
    out.append('.Pp')
    out.append('The parameters are:')
    out.append('.Bl -tag -width interval_ms')
    for kind, parameter in parameters:
        out.append('.It Fa ' + parameter)
        declared = kind + ('' if kind.endswith('*') else ' ') + parameter
        usual = [text for type_, text in USUAL.items() if type_ in declared]
        if parameter in texts:
            part = []
            for para in texts[parameter].findall('para'):
                put_inline(part, para)
            out.extend(part)
        elif usual:
            out.append(usual[0])
        else:
            fault('%s: parameter %s has no text' % (name, parameter))
    out.append('.El')


def put_returns(out, member):
    for section in member.iter('simplesect'):
        if section.get('kind') == 'return':
            out.append('.Sh RETURN VALUES')
            for para in section.findall('para'):
                put_inline(out, para)


def parameters_of(member):
    """Pairs of a type and a name."""
    found = [(words_of(parameter.find('type')),
              parameter.findtext('declname') or '')
             for parameter in member.findall('param')]
    return [pair for pair in found if pair[1]]


def callback_parameters(member):
    """The parameters of a function's typedef, which doxygen leaves as text."""
    text = member.findtext('argsstring').strip().lstrip(')')
    text = text.strip().lstrip('(').rstrip(')')
    pairs = []
    for parameter in text.split(','):
        match = re.match(r'(.*?)(\w+)(\[.*)?$', parameter.strip())
        if match and match.group(1).strip():
            pairs.append((match.group(1).strip(), match.group(2)))
    return pairs


def put_prototype(out, name, kind, parameters):
    out.append('.Ft ' + kind)
    out.append('.Fo ' + name)
    for type_, parameter in parameters:
        space = '' if type_.endswith('*') else ' '
        out.append('.Fa "%s%s%s"' % (type_, space, parameter))
    if not parameters:
        out.append('.Fa void')
    out.append('.Fc')


def indent_of(line):
    return len(line) - len(line.lstrip())


def statement_of(lines, at):
    """The first line of the statement in which line `at` is, and the line
    after its last; the check of a result belongs to it."""
    first = at
    while lines[first - 1].rstrip().endswith((',', '(', '||', '&&', '=', '?')):
        first -= 1
    last, depth = first, 0
    while last < min(len(lines), first + 14):
        line = lines[last].split(' /*')[0]
        depth += sum(line.count(c) for c in '({') - \
            sum(line.count(c) for c in ')}')
        last += 1
        if depth <= 0 and line.endswith((';', '}')) and not any(
                line.lstrip().startswith('if (rc ')
                for line in lines[last:last + 2]):
            break
    return first, last


class Manual:
    def __init__(self, options):
        self.options = options
        self.names = {}     # of a symbol: its page
        self.pages = {}     # of a page: its lines
        self.headers = {}   # of a header: its root
        self.samples = {}
        for name in sorted(os.listdir(options.samples)):
            if name.endswith('.c'):
                with open(os.path.join(options.samples, name)) as file:
                    self.samples[name] = file.read().split('\n')

    def begin(self, page, names, brief, header):
        if not brief:
            fault(page + ': no comment')
        out = self.pages[page] = []
        out.append('.\\" Made from %s: change that.' % header)
        out.append('.Dd ' + mdoc_date(self.options.date))
        out.append('.Dt %s 3' % page.upper())
        out.append('.Os')
        out.append('.Sh NAME')
        out.extend('.Nm %s%s' % (name, ' ,' if name != names[-1] else '')
                   for name in names)
        out.append('.Nd ' + escape(brief))
        out.append('.Sh SYNOPSIS')
        out.append('.In ' + header)
        return out

    def end(self, page, text, header):
        """EXAMPLES, and SEE ALSO with the pages that the text mentions."""
        out = self.pages[page]
        self.put_example(out, page)
        found = set(re.findall(r'\b(?:uvperf|UVPERF)_\w+', text))
        seen = {self.names[name] for name in found if name in self.names}
        seen.add(header_page(header))
        seen.discard(page)
        out.append('.Sh SEE ALSO')
        pairs = [(name, 3) for name in sorted(seen)] + [('uvperf', 7)]
        pairs += [(name, 7) for name in
                  sorted(set(re.findall(r'\b(uvperf-[a-z-]+)\(7\)', text)))]
        for i, (name, section) in enumerate(pairs):
            comma = ' ,' if i < len(pairs) - 1 else ''
            out.append('.Xr %s %d%s' % (name, section, comma))

    def put_example(self, out, page):
        """Some lines of the shortest sample that calls it."""
        calls = re.compile(r'\b%s\(' % page)
        for name, lines in sorted(self.samples.items(),
                                  key=lambda pair: len(pair[1])):
            at = [i for i, line in enumerate(lines) if calls.search(line)]
            if not at:
                continue
            call, last = statement_of(lines, at[0])
            first = call
            while first > call - 3 and lines[first - 1].endswith(';') and \
                    indent_of(lines[first - 1]) == indent_of(lines[call]):
                first -= 1
            out.append('.Sh EXAMPLES')
            out.append('From')
            out.append('.Pa samples/%s :' % name)
            put_literal(out, '\n'.join(lines[first:last]))
            return

    # -- pages ---------------------------------------------------------------

    def function(self, member, header, is_callback):
        name = member.findtext('name')
        text = words_of(member)
        out = self.begin(name, [name], brief_of(member), header)
        kind = words_of(member.find('type'))
        if is_callback:
            parameters = callback_parameters(member)
            put_prototype(out, '(*%s)' % name,
                          'typedef ' + kind.replace('(*', '').strip(),
                          parameters)
        else:
            parameters = parameters_of(member)
            put_prototype(out, name, kind, parameters)
        out.append('.Sh DESCRIPTION')
        description(out, member)
        put_parameters(out, name, parameters, parameter_texts(member))
        put_returns(out, member)
        self.end(name, text, header)

    def struct(self, compound, header):
        name = compound.findtext('compoundname')
        page = self.names[name]
        out = self.begin(page, [page], brief_of(compound) or 'a handle',
                         header)
        out.append('.Vt %s ;' % page)
        out.append('.Sh DESCRIPTION')
        description(out, compound)
        out.append('.Pp')
        out.append('The fields are:')
        out.append('.Bl -tag -width interval_ms')
        items = []
        for member in compound.iter('memberdef'):
            field = member.findtext('name')
            if field.startswith('reserved') or 'private' in field:
                continue
            kind = words_of(member.find('type'))
            args = member.findtext('argsstring') or ''
            part = []
            short_description(part, member)
            # A comment for several: the items stand one below the other.
            if re.match(r'See \w+\.$', ' '.join(part)):
                part, last = [], out[items[-1]:]
                del out[items[-1]:]
                out.append(last[0])
                items.append(len(out))
                out.append('.It Vt "%s" Fa %s' % (kind, field + args))
                out.extend(last[1:])
                continue
            items.append(len(out))
            out.append('.It Vt "%s" Fa %s' % (kind, field + args))
            out.extend(part)
        out.append('.El')
        self.end(page, words_of(compound), header)

    def enum(self, member, header):
        name = member.findtext('name')
        out = self.begin(name, [name], brief_of(member), header)
        out.append('.Vt enum %s ;' % name)
        out.append('.Sh DESCRIPTION')
        description(out, member)
        out.append('.Pp')
        out.append('The values are:')
        out.append('.Bl -tag -width Ds')
        for value in member.findall('enumvalue'):
            part = []
            short_description(part, value)
            init = ' '.join((value.findtext('initializer') or '').split())
            out.append('.It Dv %s Li "%s"' % (value.findtext('name'), init)
                       if init else '.It Dv ' + value.findtext('name'))
            out.extend(part)
        out.append('.El')
        self.end(name, words_of(member), header)

    def header(self, header, root, pages):
        page = header_page(header)
        compound = root.find('compounddef')
        out = self.begin(page, [page], brief_of(compound), header)
        out.append('.Sh DESCRIPTION')
        description(out, compound)
        macros = [member for member in root.iter('memberdef')
                  if member.get('kind') == 'define' and
                  not member.findtext('name').endswith('_H')]
        if macros:
            out.append('.Pp')
            out.append('The constants and macros are:')
            out.append('.Bl -tag -width Ds')
            for member in macros:
                part = []
                short_description(part, member)
                out.append('.It Dv ' + member.findtext('name'))
                out.extend(part)
            out.append('.El')
        out.append('.Pp')
        out.append('There are pages of:')
        out.append('.Bl -column uvperf_snapshot x')
        for other in pages:
            out.append('.It Xr %s 3' % other)
            out[-1] += ' Ta ' + escape(self.briefs[other])
        out.append('.El')
        self.end(page, words_of(compound), header)

    def events(self, sections):
        """Made from the comments that begin with @page."""
        out = self.pages['uvperf-events'] = [
            '.\\" Made from uvperf/attr.h and uvperf/name.h: change those.',
            '.Dd ' + mdoc_date(self.options.date), '.Dt UVPERF-EVENTS 7',
            '.Os', '.Sh NAME', '.Nm uvperf-events',
            '.Nd names of events for the library and the tools',
            '.Sh DESCRIPTION']
        for name in EVENTS:
            if name not in sections:
                fault('uvperf-events: no comment begins with @page ' + name)
                continue
            title = sections[name].findtext('title')
            if name == EVENTS[-1]:
                out.append('.Sh ' + title.upper())
            elif name != EVENTS[0]:
                out.append('.Ss ' + escape(title))
            short_description(out, sections[name])
        for i, line in enumerate(out):
            out[i] = re.sub(r'\buvperf_\w+', lambda match: match.group() +
                            '(3)' * (match.group() in self.pages), line)
        out += ['.Sh SEE ALSO', '.Xr perf-list 1 ,', '.Xr perf-record 1 ,',
                '.Xr uvperf-list 1 ,', '.Xr perf_event_open 2 ,',
                '.Xr uvperf_attr_label 3 ,', '.Xr uvperf_attr_parse 3 ,',
                '.Xr uvperf_event_list_parse 3 ,', '.Xr uvperf 7']

    def make(self, directory):
        members = []
        self.briefs = {}
        structs = {}
        sections = {}
        for name in sorted(os.listdir(directory)):
            root = ET.parse(os.path.join(directory, name)).getroot()
            compound = root.find('compounddef')
            if compound is None or name.endswith('_8md.xml'):
                continue
            for node in root.iter('verbatim'):
                if rows_of(node.text):
                    node.tag = 'rows'
            if compound.get('kind') == 'file':
                header = compound.find('location').get('file')
                header = header[header.rfind('include/') + 8:] \
                    if 'include/' in header else header
                self.headers[header] = root
                members.append((header, root))
            elif compound.get('kind') == 'struct':
                structs[compound.get('id')] = compound
            elif compound.get('kind') == 'page':
                sections[compound.findtext('compoundname')] = compound
        self.collect(members, structs)
        self.events(sections)

    def collect(self, members, structs):
        work, pages = [], {}
        for header, root in members:
            mine = pages[header] = []
            for member in root.iter('memberdef'):
                kind, name = member.get('kind'), member.findtext('name')
                is_callback = kind == 'typedef' and \
                    '(*' in (member.findtext('type') or '')
                if kind == 'function' or is_callback:
                    work.append((self.function, (member, header, is_callback)))
                elif kind == 'enum':
                    for value in member.findall('enumvalue'):
                        self.names[value.findtext('name')] = name
                    work.append((self.enum, (member, header)))
                elif kind == 'define':
                    self.names[name] = header_page(header)
                    continue
                else:
                    continue
                self.names[name] = name
                self.briefs[name] = brief_of(member)
                mine.append(name)
            for inner in root.iter('innerclass'):
                compound = structs[inner.get('refid')]
                name = compound.findtext('compoundname')
                page = re.sub('_s$', '_t', name)
                self.names[name] = self.names[page] = page
                self.briefs[page] = brief_of(compound) or 'a handle'
                work.append((self.struct, (compound, header)))
                mine.append(page)
        for make, arguments in work:
            make(*arguments)
        for header, root in members:
            if header != 'uvperf.h':
                self.header(header, root, sorted(pages[header]))


def header_page(header):
    return 'uvperf_' + os.path.basename(header)[:-2] + '.h' \
        if header != 'uvperf.h' else 'uvperf.h'


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--date', required=True)
    parser.add_argument('--samples', required=True)
    parser.add_argument('--out', required=True)
    parser.add_argument('xml')
    options = parser.parse_args()
    manual = Manual(options)
    manual.make(options.xml)
    if FAULTS:
        sys.exit('\n'.join(FAULTS))
    for page, lines in manual.pages.items():
        section = 7 if page == 'uvperf-events' else 3
        folder = os.path.join(options.out, 'man%d' % section)
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, '%s.%d' % (page, section)),
                  'w') as file:
            file.write('\n'.join(lines) + '\n')


if __name__ == '__main__':
    main()
