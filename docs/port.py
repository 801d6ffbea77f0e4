#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Ports C and C++ sources from uvperf 0.2 to 0.3, as far as a script can:

    port.py FILE...

Each call of a function that has another name or other arguments is rewritten,
in place. CHANGES.md has the table, and what a script cannot port. A line that
needs a look is printed.
"""
import re
import sys

# 0.2's function: what replaces the call. {0} is the first argument.
CALLS = {
    'uvperf_reading_count': 'uvperf_reading_get({0}, {1}, UVPERF_ALL, {2}, {3})',
    'uvperf_reading_target_total':
        'uvperf_reading_get({0}, {1}, {2}, UVPERF_ALL, {3})',
    'uvperf_reading_nr_attrs': 'uvperf_reading_info({0})->nr_attrs',
    'uvperf_reading_nr_places': 'uvperf_reading_info({0})->nr_places',
    'uvperf_reading_time': 'uvperf_reading_info({0})->time',
    'uvperf_reading_interval': 'uvperf_reading_info({0})->interval',
}

# What a script cannot rewrite, and what to do.
LOOK = {
    'uvperf_count_scale': 'uvperf_count_t.scaled has the estimate',
    'uvperf_system_has_perfmon': 'read uvperf_limits_t.has_perfmon',
}

SKIP = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//[^\n]*|'
                  r'/\*.*?\*/', re.S)


def split_arguments(text, start):
    """Returns the arguments after the bracket at start, and the end."""
    depth, at, begin, arguments = 0, start, start + 1, []
    while at < len(text):
        skipped = SKIP.match(text, at)
        if skipped:
            at = skipped.end()
            continue
        char = text[at]
        if char in '([{':
            depth += 1
        elif char in ')]}':
            depth -= 1
            if depth == 0:
                arguments.append(text[begin:at].strip())
                return arguments, at + 1
        elif char == ',' and depth == 1:
            arguments.append(text[begin:at].strip())
            begin = at + 1
        at += 1
    return None, start


def port(text):
    names = re.compile(r'\b(%s)\b(\s*\()?' % '|'.join(CALLS))
    out, at = [], 0
    while True:
        found = names.search(text, at)
        comment = SKIP.search(text, at)
        if found and comment and comment.start() < found.start():
            out.append(text[at:comment.end()])
            at = comment.end()
            continue
        if not found:
            return ''.join(out) + text[at:]
        out.append(text[at:found.start()])
        arguments = None
        if found.group(2):
            arguments, end = split_arguments(text, found.end() - 1)
        if arguments is None:
            out.append(found.group(0))
            at = found.end()
            continue
        out.append(CALLS[found.group(1)].format(*map(port, arguments)))
        at = end


def main():
    for path in sys.argv[1:]:
        with open(path, encoding='utf-8') as file:
            text = file.read()
        ported = port(text)
        for number, line in enumerate(ported.split('\n'), 1):
            for name, remedy in LOOK.items():
                if re.search(r'\b%s\b' % name, line):
                    print('%s:%d: %s: %s' % (path, number, name, remedy))
        if ported != text:
            with open(path, 'w', encoding='utf-8') as file:
                file.write(ported)


if __name__ == '__main__':
    main()
