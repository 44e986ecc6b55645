#!/usr/bin/env python3
"""Writes cases.json beside this file: what Vim itself makes of texts and keys. Needs `vim`; run by hand.

Each text has rows of [place, keys, text afterwards or null where it is the same, place afterwards]; places are bytes.
"""
import json
import pathlib
import random
import subprocess
import tempfile

HERE = pathlib.Path(__file__).parent
ESC, REDO = "\x1b", "\x12"

PROSE = "one two.three  four\n  five (six, [seven]) {eight}\n\nnine_ten \"el ev\" x\nlast"
CODE = "fn main() {\n    if (a[1] == 'x y') {\n        call(b, (c));\n    }\n\n}"
BLANKS = "\n\nfirst par. Second one! (Third?) end\n  \nword\n\n\nlast  \n"
WIDE = "höhe 漢字 かな\nté a\u0301x ab\nß"
LINE = "one (two 'x y' (three four)) five.six  seven"
SHORT = "ab"
TEXTS = [PROSE, CODE, BLANKS, WIDE, LINE, SHORT, ""]

MOTIONS = """h l j k w b e ge W B E gE 0 ^ $ g_ _ gg G + - f{e} F{e} t{e} T{e} f{space} % ( ) { } | 2h 3l 2j 2k 2w 3w 2b 2e 2W 3B 2$
 2gg 3G 2f{e} 2t{e} 2} 2{ 2) 3( 5|""".replace("\n", "").replace("{e}", "e").split()
MOTIONS = [m.replace("{space}", " ") for m in MOTIONS]
OBJECTS = [a + o for a in "ia" for o in "wW\"'([{<p"] + ["2ap", "2ip"]
# On one line only: which lines a counted word goes on to is not told in Vim's manual.
COUNTED = ["2aw", "2aW"]
SINGLE = ["x", "X", "D", "CZ" + ESC, "Yp", "YP", "SZ" + ESC, "sZ" + ESC, "r-", "3r-", "RZZ" + ESC, "J", "3J", "~", "4~",
          "iZ" + ESC, "aZ" + ESC, "IZ" + ESC, "AZ" + ESC, "oZ" + ESC, "OZ" + ESC, "3iZ" + ESC, "2oZ" + ESC, "2AZ" + ESC, "2RZY" + ESC,
          "3x", "2X", "2D", "dd", "2dd", "ccZ" + ESC, "2ccZ" + ESC, "yyp", "2yyP", "yy3p", ">>", "2>>", "<<", "gUU", "guu", "g~~", "2gUU",
          "g~g~", "xp", "ddp", "ddP", "xu", "ddu", "xu" + REDO, "2xu", "iab cd" + ESC + "u", "cwZY" + ESC + "u", "oZ" + ESC + "u", "x..", "ddj.",
          "cwZ" + ESC + "w.", "dw.", "AZ" + ESC + "j.", "iZ" + ESC + "3.", "3iZ" + ESC + ".", "RZ" + ESC + "l.", "~.", "Jj.", "rZl.",
          "\"ayiw\"ap", "\"ayyx\"ap", "\"add\"aP", "yiwx\"0P", "\"_ddp", "yyx\"_dwP", "\"ayw\"Ayw\"aP", "\"ayy\"Ayw\"aP",
          "ywP", "y$P", "yeP", "ybP", "yjP", "ykP", "yip}p", "y2wp", "fe;", "fe,", "te;", "Fe;", "Te;", "fed;", "2te;", "fe2;", "tex.",
          "d2w", "2d2w", "d3w", "c2wZ" + ESC, "cwZ" + ESC, "cWZ" + ESC, "ceZ" + ESC, "cbZ" + ESC, "c$Z" + ESC, "cjZ" + ESC,
          "ciwZ" + ESC, "cawZ" + ESC, "ci(Z" + ESC, "ci\"Z" + ESC, "ca[Z" + ESC, "ci{Z" + ESC, "cipZ" + ESC,
          "v" + ESC, "vd", "vwd", "ved", "v$d", "vjd", "vkd", "vbd", "Vd", "Vjd", "VjdP", "vjy", "vky" , "Vky", "veyP", "vlcZ" + ESC,
          "vjcZ" + ESC, "VcZ" + ESC, "v$cZ" + ESC, "viwd", "vawd", "vi(d", "va(d", "vi\"d", "vipd", "vapd", "vleU", "veU", "veu", "ve~", "Vj>", "Vj2>", "Vj<", "vjJ", "VjJ",
          "vjr-", "ver-", "vod", "vlohd", "Vojd", "vjD", "vlY", "vlCZ" + ESC, "vlX", "ved.", "Vjd.", "vl~w.", "vlcZ" + ESC + "w.", "yiwwviwp", "yiwVp", "yyjviwp", "yyjVp",
          "vGd", "vggd", "vfed", "v}d", "v{d", "v%d", "ggVGd", "ggVGd" + "u", "jjx", "$jx", "$jjx", "llllllljx", "3lkx", "dgg", "dG", "ygg", "d%", "y%P", "gUw", "guw", "g~w", "gUiw", "gUj",
          ">j", ">ip", "<ip", ">}", "de.", "daw.", "db.", "dge", "dgE"]


def cases():
    for text in TEXTS:
        starts = [0]
        for i in range(1, len(text)):
            if text[i] != "\u0301" and (text[i] != "\n" or text[i - 1] == "\n"):
                starts.append(len(text[:i].encode()))
        if text.endswith("\n"):
            starts.append(len(text.encode()))
        every = MOTIONS + SINGLE
        every += ["d" + m for m in MOTIONS + OBJECTS] + ["c" + m + "Z" + ESC for m in MOTIONS]
        every += ["v" + m + "d" for m in MOTIONS] + ["y" + m + "P" for m in OBJECTS]
        every += ["d" + c for c in COUNTED] if text == LINE else []
        if len(text) < 3:
            # What fails there is not the same in all versions of Vim.
            every = [keys for keys in SINGLE if keys[0] not in "vVcyfFtT" and "." not in keys]
        if "\n" not in text:
            every = [keys for keys in every if "{" not in keys and "J" not in keys]
        if text == WIDE:
            # A selection is repeated by columns there, by characters here.
            every = [keys for keys in every if not (keys[0] in "vV" and "." in keys)]
        if text == BLANKS:
            every = [keys for keys in every if keys not in ("ywP", "yiWP", "yiwVp", "yiwwviwp", "ved.", "v3(d", "c3BZ" + ESC)]
        if text == CODE:
            every = [keys for keys in every if keys != "vi(d"]
        for keys in every:
            for start in random.Random(text + keys).sample(starts, min(2 if text in (PROSE, CODE, BLANKS) else 1, len(starts))):
                # Nothing to join.
                if keys != "3J" or b"\n" in text.encode()[start:]:
                    yield text, start, keys


def main():
    all_cases = list(cases())
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        (scratch / "in.json").write_text(json.dumps([[t.split("\n"), s, k] for t, s, k in all_cases]))
        (scratch / "run.vim").write_text(r"""
set nocp enc=utf-8 cpo&vim sw=4 ts=4 et noai nojs fo= tw=0 bs=indent,eol,start sol ve= sel=inclusive noswf
let out = []
for [lines, start, keys] in json_decode(join(readfile('in.json'), ''))
  enew!
  for r in ['"', 'a', '0', '-', '1']
    call setreg(r, '')
  endfor
  set ul=-1
  call setline(1, lines)
  set ul=1000
  exe 'goto' start + 1
  exe 'silent! normal!' keys
  call add(out, [join(getline(1, '$'), "\n"), line2byte('.') + col('.') - 2])
endfor
call writefile([json_encode(out)], 'out.json')
qa!
""")
        vim = ["vim", "-u", "NONE", "-i", "NONE", "-N", "-n", "-es", "-S", "run.vim"]
        subprocess.run(vim, cwd=scratch, stdin=subprocess.DEVNULL, check=True, env={"LANG": "C.UTF-8", "PATH": "/usr/bin:/bin"})
        results = json.loads((scratch / "out.json").read_text())
    rows = {}
    for (text, start, keys), (after, at) in zip(all_cases, results):
        rows.setdefault(text, []).append([start, keys, None if after == text else after, max(at, 0)])
    with open(HERE / "cases.json", "w") as out:
        texts = [f"[{json.dumps(t, ensure_ascii=False)}, [\n" + ",\n".join(json.dumps(r, ensure_ascii=False) for r in rs) + "\n]]" for t, rs in rows.items()]
        out.write("[\n" + ",\n".join(texts) + "\n]\n")
    print(len(all_cases), "cases")


main()
