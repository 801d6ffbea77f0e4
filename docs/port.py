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

# 0.2's function: what replaces the call. {0} is the first argument, and {h} is
# the handle in the first argument.
CALLS = {
    'uvperf_reading_count': 'uvperf_reading_get({0}, {1}, UVPERF_ALL, {2}, {3})',
    'uvperf_reading_target_total':
        'uvperf_reading_get({0}, {1}, {2}, UVPERF_ALL, {3})',
    'uvperf_reading_nr_attrs': 'uvperf_reading_info({0})->nr_attrs',
    'uvperf_reading_nr_places': 'uvperf_reading_info({0})->nr_places',
    'uvperf_reading_time': 'uvperf_reading_info({0})->time',
    'uvperf_reading_interval': 'uvperf_reading_info({0})->interval',
    'uvperf_tracepoint_id': 'uvperf_tracepoint_info({0})->id',
    'uvperf_tracepoint_name': 'uvperf_tracepoint_info({0})->name',
    'uvperf_tracepoint_category': 'uvperf_tracepoint_info({0})->category',
    'uvperf_tracepoint_count': 'uvperf_tracepoint_info({0})->nr_fields',
    'uvperf_tracepoint_field':
        '(&uvperf_tracepoint_info({0})->fields[{1}])',
    'uvperf_cpus_online': 'uvperf_cpus(UVPERF_CPUS_ONLINE, {0}, {1})',
    'uvperf_cpus_possible': 'uvperf_cpus(UVPERF_CPUS_POSSIBLE, {0}, {1})',
    'uvperf_meter_new_options': 'uvperf_meter_new({0}, {1}, {2})',
}
for kind in 'event', 'set', 'bpf_reader':
    CALLS.update({
        f'uvperf_{kind}_close': 'uvperf_close({h}, {1})',
        f'uvperf_{kind}_ref': 'uvperf_ref({h})',
        f'uvperf_{kind}_unref': 'uvperf_unref({h})',
        f'uvperf_{kind}_has_ref': 'uvperf_has_ref({h})',
        f'uvperf_{kind}_is_active': 'uvperf_is_active({h})',
        f'uvperf_{kind}_is_closing': 'uvperf_is_closing({h})',
        f'uvperf_{kind}_start': 'uvperf_start({h}, {1}, {2}, {3})',
        f'uvperf_{kind}_stop': 'uvperf_stop({h})',
        f'uvperf_{kind}_next': 'uvperf_next({h}, {1})',
        f'uvperf_{kind}_flush': 'uvperf_flush({h})',
        f'uvperf_{kind}_snapshot': 'uvperf_snapshot({h}, {1}, NULL, {2})',
        f'uvperf_{kind}_snapshot_start': 'uvperf_snapshot({h}, {1}, {2}, {3})',
        f'uvperf_{kind}_on_cpu': 'uvperf_on_cpu({h}, {1})',
        f'uvperf_{kind}_has_record': 'uvperf_has_record({h})',
        f'uvperf_{kind}_stats': 'uvperf_stats({h}, {1})',
        f'uvperf_{kind}_nr_rings': 'uvperf_nr_rings({h})',
        f'uvperf_{kind}_ring': 'uvperf_ring({h}, {1}, {2})',
        f'uvperf_{kind}_size': f'uvperf_handle_size(UVPERF_HANDLE_{kind.upper()})',
    })

for kind, attr in ('event', '0'), ('set', 'UVPERF_ALL'):
    for verb in 'enable', 'disable', 'reset':
        CALLS[f'uvperf_{kind}_{verb}'] = f'uvperf_{verb}({{h}}, {attr}, {{1}})'
        CALLS[f'uvperf_{kind}_{verb}_group'] = \
            f'uvperf_{verb}({{h}}, UVPERF_ALL, {{1}})'
for verb, nr in (('change_period', 2), ('apply_filter', 2), ('attach_bpf', 3),
                 ('query_bpf', 3), ('changes', 1)):
    rest = ', '.join('{%d}' % (i + 1) for i in range(nr))
    CALLS['uvperf_event_' + verb] = f'uvperf_{verb}({{h}}, 0, {rest})'
    rest = ', '.join('{%d}' % (i + 1) for i in range(nr + 1))
    CALLS['uvperf_set_' + verb] = f'uvperf_{verb}({{h}}, {rest})'
CALLS.update({
    'uvperf_event_attr': 'uvperf_handle_attr({h}, 0)',
    'uvperf_bpf_reader_attr': 'uvperf_handle_attr({h}, 0)',
    'uvperf_event_pause': 'uvperf_event_pause({0}, 1, {1})',
    'uvperf_event_resume': 'uvperf_event_pause({0}, 0, {1})',
    'uvperf_bpf_reader_pause': 'uvperf_bpf_reader_unpublish({0}, {1})',
    'uvperf_bpf_reader_resume': 'uvperf_bpf_reader_publish({0}, {1})',
    'uvperf_set_add_target': 'uvperf_set_add({0}, {1}, NULL, {2}, {3})',
    'uvperf_set_open_target': 'uvperf_set_add({0}, {1}, {2}, NULL, {3})',
    'uvperf_set_remove_target': 'uvperf_set_remove({0}, {1}, NULL, NULL)',
})

# Functions with a callback, and its place in their arguments.
PASSES = {'close': 1, 'snapshot_start': 2}

# Types that became one.
TYPES = {
    r'uvperf_(?:event|set|bpf_reader)_close_cb': 'uvperf_close_cb',
    r'uvperf_(?:event|set|bpf_reader)_(open|cpu|snapshot)_cb': r'uvperf_\1_cb',
    r'uvperf_(?:event|set)_record_cb': 'uvperf_record_cb',
    r'uvperf_bpf_reader_sample_cb': 'uvperf_record_cb',
    r'uvperf_bpf_sample_t': 'uvperf_record_t',
}

HANDLE = r'uvperf_(event|set|bpf_reader)_t'

# What a script cannot rewrite, and what to do.
LOOK = {
    'UVPERF_SET_FOLLOW_CPUS': 'leave it out: sets follow CPUs',
    'uvperf_count_scale': 'uvperf_count_t.scaled has the estimate',
    'uvperf_bpf_reader_failed_ring': 'record->cpu is the CPU of the ring',
    'uvperf_bpf_reader_flush_ring': 'uvperf_flush delivers all rings',
    'uvperf_event_open': 'set options.open_cb and call uvperf_event_init',
    'uvperf_set_open': 'set options.open_cb and call uvperf_set_init',
    'uvperf_bpf_reader_open':
        'set options.open_cb and call uvperf_bpf_reader_init',
    'uvperf_measure': 'use a meter: uvperf_meter_new, uvperf_meter_measure',
    'uvperf_measure_overhead': 'repeat an empty function by a meter',
    'uvperf_meter_nr_events': 'uvperf_meter_item returns NULL at the end',
    'uvperf_reading_subtract': 'subtract the least of an empty function',
    'uvperf_event_ring_bytes': 'uvperf_ring returns the size in `bytes`',
    'uvperf_set_nr_closing': 'uvperf_stats returns the number in closing_fds',
    'uvperf_set_failed_ring': 'record->cpu is the CPU of the ring',
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


def handle_of(argument):
    """The handle of an argument that points to an event, a set or a reader."""
    cast = re.match(r'\(' + HANDLE + r' \*\)\s*(.*)', argument, re.S)
    if cast:
        return '(uvperf_handle_t *)' + cast.group(2)
    if argument == 'NULL' or re.search(r'(->|\.)data$', argument):
        return argument
    if re.match(r'&[\w.>\[\]()+-]+$', argument):
        return argument + '.handle'
    call = re.match(r'\w+\(', argument)
    if re.match(r'[\w.>\[\]()-]+$', argument) or (
            call and split_arguments(argument, call.end() - 1)[1] ==
            len(argument)):
        return '&' + argument + '->handle'
    return '&(' + argument + ')->handle'


def nr_arguments(name):
    """How many arguments 0.2's function has; other calls are left alone."""
    return 1 + max([0] + [int(n) for n in re.findall(r'\{(\d)\}', CALLS[name])])


def port_calls(text, callbacks):
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
        if arguments is None or len(arguments) != nr_arguments(found.group(1)):
            out.append(found.group(0))
            at = found.end()
            continue
        arguments = [port_calls(one, callbacks) for one in arguments]
        place = PASSES.get(re.sub(r'^uvperf_(event|set|bpf_reader)_', '',
                                  found.group(1)))
        if place:
            callbacks.add(arguments[place])
        handle = handle_of(arguments[0]) if arguments else ''
        out.append(CALLS[found.group(1)].format(*arguments, h=handle))
        at = end


def body_of(text, start):
    """Returns the end of the block that begins at start."""
    depth, at = 0, start
    while at < len(text):
        skipped = SKIP.match(text, at)
        if skipped:
            at = skipped.end()
            continue
        depth += {'{': 1, '}': -1}.get(text[at], 0)
        at += 1
        if depth == 0:
            break
    return at


# The rest of the arguments of a record callback.
RECORD = re.compile(r',\s*int \w+,\s*const uvperf_(record|bpf_sample)_t \*(\w+)$')


def port_record(kind, name, body):
    """Ports the body of a record callback: its record is never NULL."""
    if kind == 'bpf_sample':
        for old, new in (
                (r'->data == NULL', '->type != PERF_RECORD_SAMPLE'),
                (r'->data != NULL', '->type == PERF_RECORD_SAMPLE'),
                (r'->(data|size)\b', r'->sample.raw.\1'),
                (r'->record\b', '')):
            body = re.sub(r'\b%s%s' % (name, old), name + new, body)
        body = re.sub(r'\b%s->lost\b' % name, 'uvperf_record_lost(%s)' % name,
                      body)
    for one, both, other in (('==', r'\|\|', '!='), ('!=', '&&', '==')):
        body = re.sub(r'\b%s %s NULL %s\s+(?=%s->type %s)' %
                      (name, one, both, name, other), '', body)
        body = re.sub(r'\b%s %s NULL\b' % (name, one),
                      '%s->type %s UVPERF_RECORD_NONE' % (name, one), body)
    return body


def port_callback(text, found):
    """Gives a callback a uvperf_handle_t."""
    head, kind, old, rest = found.group(1, 2, 3, 4)
    record = RECORD.match(rest)
    start = found.end() - 1
    end = start if text[start] == ';' else body_of(text, start)
    body = text[start:end]
    new = 'base' if re.search(r'\bhandle\b', body) else 'handle'
    head = '%s(uvperf_handle_t *%s%s)' % (head, new, rest)
    if text[start] == ';':
        return text[:found.start()] + head + text[start:]
    if record and record.group(1) == 'record':
        body = port_record(record.group(1), record.group(2), body)
    body = re.sub(r'\b%s->(?:handle\.)?data\b' % old, new + '->data', body)
    body = re.sub(r'&%s->handle\b' % old, new, body)
    body = re.sub(r'\(void\)%s;' % old, '(void)%s;' % new, body)
    if re.search(r'\b%s\b' % old, body):
        body = '{\n  uvperf_%s_t *%s = uvperf_handle_%s(%s);%s' % (
            kind, old, kind, new, body[1:])
    return text[:found.start()] + head + ' ' + body + text[end:]


def port_callbacks(text, callbacks):
    """Ports functions with the arguments of a callback, and those that were
    passed as one."""
    heads = [r'\w+(?=\([^()]*(?:,\s*int \w+)+,\s*'
             r'const uvperf_(?:record|bpf_sample|error)_t \*\w+\))']
    heads += [name for name in callbacks
              if re.match(r'\w+$', name) and name != 'NULL']
    for name in heads:
        head = re.compile(r'\b(' + name + r')\(' + HANDLE +
                          r' \*(\w+)((?:,[^()]*)?)\)(?:\s*\{|;)')
        at = 0
        while True:
            found = head.search(text, at)
            if not found:
                break
            at = found.start() + 1
            text = port_callback(text, found)
    return text


def port_members(text):
    """Puts `handle` before the members that moved into the base."""
    names = set(re.findall(r'\buvperf_(?:event|set|bpf_reader)_t \**(\w+)\b', text))
    for name in names:
        text = re.sub(r'\b(%s(?:\[\w+\])?(?:->|\.))(data|loop)\b' % name,
                      r'\1handle.\2', text)
    return text


def port_flags(text):
    """Sets follow CPUs by default."""
    text = re.sub(r'\s*\|\s*UVPERF_SET_FOLLOW_CPUS\b', '', text)
    return re.sub(r'\bUVPERF_SET_FOLLOW_CPUS\s*\|\s*', '', text)


def port(text):
    names = set()
    text = port_flags(text)
    text = port_calls(text, names)
    text = port_callbacks(text, names)
    for name in set(re.findall(r'\buvperf_bpf_sample_t \*(\w+)', text)):
        text = port_record('bpf_sample', name, text)
    for old, new in TYPES.items():
        text = re.sub(r'\b%s\b' % old, new, text)
    return port_members(text)


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
