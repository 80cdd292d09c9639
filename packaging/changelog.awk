# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# CHANGELOG.md as the body of debian/changelog: an item a '*', lines of at most 80 columns.

function wrap(text, first,    line, count, words, i) {
	count = split(text, words, " ")
	line = first
	for (i = 1; i <= count; i++) {
		if (length(line " " words[i]) > 80) {
			print line
			line = "   "
		}
		line = line " " words[i]
	}
	print line
}

function item_ends() {
	if (item != "")
		wrap(item, "  *")
	item = ""
}

/^## / { inside = 1 }
!inside { next }
/^- / { item_ends(); item = substr($0, 3); next }
/^  [^ ]/ { item = item " " $0; next }
/^### / { item_ends(); print "  [ " $2 " ]" }
END { item_ends() }
