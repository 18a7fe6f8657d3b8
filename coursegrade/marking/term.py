"""One table over all assignments, grading/marks.csv. How much each counts stands in grading/weights.csv:

    assignment,weight
    02,1
    03,2

That file says what everything is: what is not in it does not count, and what is in it and has not been graded counts as
0, also if nobody handed it in. Without it everything is what was graded, and all count the same.
"""

from coursegrade.marking import CourseError, records, reports, tables


def write(course, assignments):
    """Write grading/marks.csv: for each student the points of each assignment, and two shares in percent, of what has
    points and of everything (what is missing or rejected is 0 there). Returns (its path, [those with a weight that are
    not among `assignments`, which were graded])."""
    weight, people, lines = weights(course, assignments), course.roster(), {}
    to_come = [name for name in weight if weight[name] and name not in assignments]
    for assignment in assignments:
        for row in reports.table(course, assignment):
            lines.setdefault(row["student_id"], {})[assignment] = row
    most = {name: next(iter(rows))[name]["of"] for name in assignments
            if (rows := [found for found in lines.values() if name in found])}
    made = []
    for student, found in sorted(lines.items()):
        about = people.get(student, {})
        shares = {name: row["points"] / row["of"] for name, row in found.items()
                  if row["points"] is not None and row["of"]}
        reached = sum(weight[name] * share for name, share in shares.items())
        settled = sum(weight[name] for name in shares)
        made.append({
            "student_id": student, **{key: about.get(key) or "" for key in ("last_name", "first_name", "email")},
            **{f"{name} (of {most[name]:g})": found[name]["points"] if name in found else None for name in most},
            "percent_of_what_has_points": round(100 * reached / settled, 1) if settled else None,
            "percent_of_all": round(100 * reached / sum(weight.values()), 1) if sum(weight.values()) else None,
            "not_final": "; ".join([
                *(f"{name}: {found[name]['state'] if name in found else 'missing'}" for name in most
                  if name not in found or found[name]["state"] != "graded"),
                *(f"{name}: {records.WAITING}" for name in to_come)])})
    path = course.grading / "marks.csv"
    tables.write(path, made, "utf-8-sig")
    return path, to_come


def weights(course, assignments):
    """{assignment: weight} of these and of those in grading/weights.csv; 1 for each of these without that file."""
    path = course.grading / "weights.csv"
    if not path.exists():
        return dict.fromkeys(assignments, 1.0)
    found = dict.fromkeys(assignments, 0.0)
    for row in tables.read(path):
        try:
            found[course.assignment(row["assignment"])] = float(row["weight"].replace(",", "."))
        except (KeyError, ValueError):
            raise CourseError("grading/weights.csv needs the columns assignment and weight, with numbers; it has "
                              f"{', '.join(row.values())}.") from None
    return found
