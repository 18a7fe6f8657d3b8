"""In place of a package that builds a grammar of international web addresses as it is imported: two seconds of each
process that imports nbformat. jsonschema, which would check such addresses by it, does without; here nothing asks."""

raise ImportError("the tests do without it")
