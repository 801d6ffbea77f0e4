# SPDX-License-Identifier: MIT
"""Writes mdoc(7): text, lists, tables and code of doxygen's XML. The functions
put_* add lines to a list."""
import calendar
import re
import textwrap


def mdoc_date(text):
    year, month, day = (int(part) for part in text.split('-'))
    return '%s %d, %d' % (calendar.month_name[month], day, year)


def escape(text):
    """A line of text without special meaning for roff."""
    text = text.replace('\\', '\\e').replace('()', '\\&()')
    text = re.sub('[^\0-~]', lambda match: '\\[u%04X]' % ord(match.group()),
                  text)
    return '\\&' + text if text[:1] in ("'", '.') else text


def words_of(node):
    """The text of a node without its block elements."""
    return ' '.join(''.join(node.itertext()).split())


BLOCKS = ('parameterlist', 'simplesect', 'itemizedlist', 'orderedlist',
          'verbatim', 'preformatted', 'programlisting', 'table', 'rows')


def put_text(out, text):
    """A paragraph, with each sentence on a new line, as mandoc wants it."""
    text = ' '.join(text.split())
    for sentence in re.split(r'(?<=[.!?]) +', text):
        out.extend(escape(line) for line in
                   textwrap.wrap(sentence, 68, break_long_words=False,
                                 break_on_hyphens=False))


def put_inline(out, node):
    """A node's text, with its blocks at their places."""
    text = node.text or ''
    for child in node:
        if child.tag in BLOCKS:
            put_text(out, text)
            text = ''
            put_block(out, child)
            if out and out[-1] in ('.Ed', '.El') and (child.tail or '').strip():
                out.append('.Pp')
        else:
            text += ''.join(child.itertext())
        text += child.tail or ''
    put_text(out, text)


def put_paragraphs(out, node, is_first=True):
    """The paragraphs of a description, without parameters and returns."""
    for para in node.findall('para'):
        part = []
        put_inline(part, para)
        if not part:
            continue
        if re.match(r'\.Bl -tag .*-compact', part[0]):
            is_first = not out or out[-1].startswith('.S')
        elif part[0].startswith('.'):
            is_first = True
        if not is_first:
            out.append('.Pp')
        out.extend(part)
        is_first = False
    return is_first


def put_block(out, node):
    if node.tag in ('itemizedlist', 'orderedlist'):
        put_list(out, node)
    elif node.tag in ('verbatim', 'preformatted'):
        put_literal(out, ''.join(node.itertext()))
    elif node.tag == 'programlisting':
        put_literal(out, code_of(node))
    elif node.tag == 'table':
        put_table(out, node)
    elif node.tag == 'rows':
        put_rows(out, node)
    elif node.tag == 'simplesect' and node.get('kind') == 'par':
        out.append('.Pp')
        put_text(out, (node.findtext('title') or '') + ': ' +
                 words_of(node.find('para')))


def code_of(node):
    """Code, in which doxygen makes an element of each space."""
    if node.tag == 'sp':
        return ' ' + (node.tail or '')
    text = (node.text or '') + ''.join(code_of(child) for child in node)
    if node.tag == 'codeline':
        return text + '\n'
    return text if node.tag == 'programlisting' else text + (node.tail or '')


def put_literal(out, text):
    lines = text.strip('\n').split('\n')
    least = min((len(line) - len(line.lstrip()) for line in lines
                 if line.strip()), default=0)
    out.append('.Bd -literal -offset indent')
    out.extend(escape(line[least:].rstrip()) for line in lines)
    out.append('.Ed')


def put_list(out, node):
    """A list. In a list of codes these are the tags."""
    items = node.findall('listitem')
    tags = []
    for item in items:
        first = item.find('para/computeroutput')
        para = item.find('para')
        is_code = first is not None and not (para.text or '').strip()
        tags.append(words_of(first) if is_code else None)
    if all(tags):
        longest = max(tags, key=len)
        width = longest if len(longest) < 16 else 'UV_EOVERFLOW'
        out.append('.Bl -tag -width ' + width + ' -compact')
    else:
        out.append('.Bl -bullet -compact')
    for item, tag in zip(items, tags):
        part = []
        if all(tags):
            code = item.find('para/computeroutput')
            code.text = ''
            for child in list(code):
                code.remove(child)
        for para in item.findall('para'):
            put_inline(part, para)
        out.append('.It ' + escape(tag) if all(tags) else '.It')
        out.extend(part)
    out.append('.El')


def rows_of(text):
    """The rows of a text in two columns; None for any other text."""
    lines = textwrap.dedent(text).strip('\n').split('\n')
    first = re.match(r'\S+(?: \S+)*  +(?=\S)', lines[0])
    column = first.end() if first else 0
    rows = []
    for line in lines if first else []:
        left, right = line[:column], line[column:]
        if right[:1] == ' ' or '  ' in left.strip():
            return None
        if right and left.endswith('  ') and left.strip():
            rows.append([left.strip(), right])
        elif right and not left.strip():
            rows[-1][1] += ' ' + right
        elif '  ' not in line:
            rows.append([line, ''])     # its text is on the next line
        else:
            return None
    return rows if len(rows) > 1 and all(row[1] for row in rows) else None


def put_rows(out, node):
    """A verbatim block that rows_of understands."""
    rows = rows_of(node.text)
    width = min(max(len(row[0]) for row in rows), 28)
    if out:
        out.append('.Pp')
    out.append('.Bl -tag -width %dn -compact' % width)
    for left, right in rows:
        out.append('.It Ic "%s"' % escape(left).replace('"', '\\(dq'))
        put_text(out, right)
    out.append('.El')


def put_table(out, node):
    """A list: the first cell of a row, then the others, each after the title
    of its column if there are several."""
    rows = [[words_of(entry) for entry in row.findall('entry')]
            for row in node.findall('row')]
    titles = rows[0]
    out.append('.Bl -tag -width Ds')
    for row in rows[1:]:
        out.append('.It "\\&%s"' % escape(row[0]).replace('"', '""'))
        cells = [(title, cell) for title, cell in zip(titles[1:], row[1:])
                 if cell]
        for i, (title, cell) in enumerate(cells):
            if i > 0:
                out.append('.br')
            put_text(out, '%s: %s' % (title, cell)
                     if title and len(titles) > 2 else cell)
    out.append('.El')
