"""Packs the feedback pages so that the platform gives each to its student: under the names that its download had.

Canvas reads the numbers in a file's name (*Upload submissions*), Moodle those in a folder's (*Upload multiple feedback
files in a zip*).
"""

from coursegrade.marking import download, files, owners


def pack(course, assignment):
    """Write grading/A-feedback-canvas.zip and -moodle.zip, of those that are needed.

    Returns ({path: how many pages}, [students who have a page that is in none]).
    """
    people, pages, left = owners.keys(course.roster()), {}, []
    for path in sorted((course.grading / "feedback").glob(f"*/{assignment}/{assignment}.html")):
        student = path.parent.parent.name
        names = [(about.platform, name) for name in download.names_of(course, assignment).get(student, [])
                 if (about := owners.claim(name, people, assignment)).platform]
        places = pages.setdefault(names[0][0], {}) if names else {}
        place = inside(*names[0], assignment) if names else ""
        if not names or place in places:                                # of a pair, the other one
            left.append(student)
        else:
            places[place] = path
    packed = {}
    for platform, places in sorted(pages.items()):
        target = course.grading / f"{assignment}-feedback-{platform}.zip"
        files.write_zip(target, places)
        packed[target] = len(places)
    return packed, left


def inside(platform, entry, assignment):
    """Where a page lies in the zip file, so that it goes to the one who handed in an entry of that name.

    >>> inside("canvas", "doejane_LATE_4711_9911_mine.ipynb", "02_sorting")
    'doejane_LATE_4711_9911_mine.html'
    >>> inside("moodle", "Jane Doe_815_assignsubmission_file_", "02_sorting")
    'Jane Doe_815_assignsubmission_file_/02_sorting.html'
    """
    if platform == "canvas":
        return entry.rpartition(".")[0] + ".html" if "." in entry else f"{entry}.html"
    return "_".join(entry.split("_")[:4]) + f"_/{assignment}.html"
