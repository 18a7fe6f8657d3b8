"""The page that `similar` writes: what was compared, where each pair lies among all of them, and the answers side by
side. Nothing is loaded, and no script runs; what students wrote is text."""

import jinja2

from coursegrade.sandbox.protocol import clean


def shown(text):
    """A line of a student's code, fit to be shown: without what could make it look like another."""
    return clean(text, 500)


ENVIRONMENT = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
ENVIRONMENT.filters["shown"] = shown
PAGE = ENVIRONMENT.from_string("""\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">
<title>{{ assignment }}: pairs to read</title>
<style>
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 80rem; margin: 2rem auto; padding: 0 1rem; color: #1a1a1a;
  background: #fff }
p, ul { max-width: 50rem }
pre { font: 13px/1.4 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; margin: 0;
  padding: .6rem .8rem; background: #f4f4f4; border-radius: 4px }
mark { background: #ffe28a; color: inherit }
.sides { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(30rem, 100%), 1fr)); gap: .6rem }
.first { border-left: 3px solid #a33; padding-left: .8rem }
table { border-collapse: collapse } td, th { padding: .2rem .8rem; border-bottom: 1px solid #ccc; text-align: left }
td.number { text-align: right; font-variant-numeric: tabular-nums }
@media (max-width: 40rem) { td, th { padding: .2rem .3rem } }
h2 { margin: 2.5rem 0 .4rem } h3 { margin: 1.2rem 0 .3rem; font-size: 1rem }
</style>
</head>
<body>
<h1>{{ assignment }}: pairs to read</h1>
<p class="first"><strong>Alike is not copied.</strong> These are pairs of hand-ins whose code is alike beyond what the \
course explains, put here so that a person reads them. This page decides nothing, and no mark may hang on it. People \
who learn together, who had the same help, or who read the same page elsewhere write alike. And who is not here may \
have copied: texts are not compared, nor what the course itself gives, nor what {{ crowd }} hand-ins or more have.</p>
<p>{{ found }} of {{ "{:,}".format(all) }} pairs of {{ works }} hand-ins are to be read\
{% if found > pairs | length %}; the first {{ pairs | length }} are here, all are in the table beside this page\
{% endif %}. What is counted are <em>prints</em>: runs of {{ K }} tokens of code, the same whatever variables are \
called and however it is laid out or commented. Those of the assignment, all solutions, the lectures, the course's \
packages and its bank of answers do not count, nor {{ "{:,}".format(common) }} that {{ crowd }} hand-ins or more have. \
Two answers to a question are alike from {{ least }} prints in common on, if they stand on {{ statements }} statements \
of each or more.</p>
<h2>All pairs</h2>
<p>How likely is it by chance? Nobody can say in numbers: that hangs on how people work together, and on the \
questions. What can be seen is where a pair lies among all pairs of this class. The further it stands from the others, \
the more it is worth reading; among many it says little.</p>
<table>
<tr><th>prints shared, in all answers</th><th>pairs</th></tr>
{% for words, times in bins %}
<tr><td>{{ words }}</td><td class="number">{{ "{:,}".format(times) }}</td></tr>
{% endfor %}
</table>
<h2>Questions</h2>
<p>“Too short to say”: fewer than {{ least }} prints or {{ statements }} statements of one's own, as in an answer of \
one line, or the course's own. Two such answers that are equal say nothing.</p>
<table>
<tr><th>question</th><th>can be compared</th><th>too short to say</th><th>pairs to read</th></tr>
{% for name, enough, short, times in questions %}
<tr><td>{{ name }}</td><td class="number">{{ enough }}</td><td class="number">{{ short }}</td>\
<td class="number">{{ times }}</td></tr>
{% endfor %}
</table>
{% if left_out %}
<h2>Not compared</h2>
<ul>{% for name, why in left_out %}<li>{{ name }}: {{ why }}</li>{% endfor %}</ul>
{% endif %}
{% for pair in pairs %}
<h2>{{ loop.index }}. {{ pair.name_a }} and {{ pair.name_b }}</h2>
<p>{{ pair.in_common }} prints in common: {{ pair.percent_of_a }}% of the {{ pair.own_a }} of {{ pair.student_a }}'s \
own, {{ pair.percent_of_b }}% of the {{ pair.own_b }} of {{ pair.student_b }}'s.
In all answers together they share {{ pair.shared }}: \
{% if pair.pairs_that_share_as_many == 1 %}no other pair shares as many\
{% else %}{{ pair.pairs_that_share_as_many }} pairs, with this one, share as many or more{% endif %}, of \
{{ "{:,}".format(all) }}.
{% if pair.same %}All their answers are the same to the letter: is it one person under two names, or a pair whose work \
was given to both?{% endif %}
{% if pair.also %}Others have some of these as well:
{% for name, count in pair.also %}{{ name }} ({{ count }}){{ ", " if not loop.last }}{% endfor %}.
Did they have the same source?{% endif %}</p>
{% for question, sides in pair.answers %}
<h3>{{ question }}</h3>
<div class="sides">
{% for lines in sides %}
<pre>{% for text, alike in lines %}\
{% if alike %}<mark>{{ text | shown }}</mark>{% else %}{{ text | shown }}{% endif %}{{ "\\n" if not loop.last }}\
{% endfor %}</pre>
{% endfor %}
</div>
{% endfor %}
{% endfor %}
</body>
</html>
""")
