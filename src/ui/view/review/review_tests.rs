use crate::ui::fixtures::{Scene, review_doc};
use crate::ui::keys::{Code, Key};

fn scene(width: u16, height: u16) -> Scene {
    let mut s = Scene::working(width, height);
    s.say("Done.");
    s.model.show_review(Some(review_doc(1)));
    s.draw();
    s.key(Key::alt(Code::Char('r')));
    s.draw();
    s.draw();
    s
}

#[test]
fn dump() {
    for (w, h) in [(160, 40), (120, 40), (80, 24), (40, 10)] {
        let mut s = scene(w, h);
        println!("=== {w}x{h}\n{}", s.shown);
        if w < 100 {
            s.press(Code::Enter).draw();
            println!("=== {w}x{h} hunks\n{}", s.shown);
        }
        s.typed("]]").draw();
        println!("=== {w}x{h} cart\n{}", s.shown);
        s.typed("v").press(Code::Down).draw();
        println!("=== {w}x{h} lines\n{}", s.shown);
        s.press(Code::Esc).typed("!too slow").draw();
        println!("=== {w}x{h} note\n{}", s.shown);
        s.press(Code::Esc).typed("sz").draw();
        s.draw();
        println!("=== {w}x{h} sides\n{}", s.shown);
        s.typed("e").draw();
        println!("=== {w}x{h} edit\n{}", s.shown);
    }
}
