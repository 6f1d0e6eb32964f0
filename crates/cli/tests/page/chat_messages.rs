//! What belongs to a message besides its words, from the keyboard, the clipboard and the mouse of a real browser to what
//! the agent receives: functions by `@`, pictures and files.

use linkspan_editor_api::Capabilities;
use serde_json::{Value, json};

use crate::chat_with_agent::HostedChat;
use crate::support::editor::all_capabilities;
use crate::support::*;

const COMPOSER: &str = "[data-field='message']";
const OPTION: &str = ".composer [role='option']";

/// A conversation whose agent waits for a message.
#[track_caller]
fn idle(options: &Value) -> HostedChat {
    idle_on(World::new(), options)
}

#[track_caller]
fn idle_on(world: World, options: &Value) -> HostedChat {
    let mut chat = HostedChat::started_on(world, options, &[]);
    chat.agent.ends(&chat.prompt, "end_turn");
    chat.page.sees(".chat[data-state='idle']");
    chat
}

/// The user sends the message; what the agent receives.
#[track_caller]
fn sent(chat: &mut HostedChat) -> Vec<Value> {
    chat.page.press("Enter");
    let prompt = chat.agent.request("session/prompt");
    chat.prompt = prompt["id"].clone();
    prompt["params"]["prompt"].as_array().unwrap().clone()
}

#[track_caller]
fn editor_with_symbols(world: &World, symbols: &Value) -> Editor {
    let editor = EditorBuilder::new(world)
        .capabilities(Capabilities { language: true, ..all_capabilities() })
        .attach();
    editor.state().scripted.insert("language/symbols".into(), json!({ "symbols": symbols }));
    editor
}

fn symbol(name: &str, path: &str, first: u32, last: u32) -> Value {
    let range =
        json!({ "start": { "line": first, "character": 0 }, "end": { "line": last, "character": 1 } });
    json!({ "name": name, "symbolKind": "function", "location": { "path": path, "range": range } })
}

#[test]
fn a_function_is_named_by_an_at_and_its_lines_reach_the_agent() {
    let mut chat = idle(&json!({}));
    let path = chat.world.file("src/parser.rs", "fn parse_line() {}\n");
    let symbols = json!([symbol("parse_line", &path, 4, 9), symbol("<b>parse</b>", &path, 11, 12)]);
    let editor = editor_with_symbols(&chat.world, &symbols);
    chat.page.click(COMPOSER);
    chat.page.types("what does @parse_l");
    chat.page.waits("both symbols and no file", |page| {
        (page.texts(&format!("{OPTION} .name")) == ["parse_line", "<b>parse</b>"]).then_some(())
    });
    let asked = editor.until("the last question", |editor| {
        let (method, params) = editor.scripted_asked.last()?.clone();
        (params["query"] == "parse_l").then_some((method, params))
    });
    assert_eq!(asked, ("language/symbols".into(), json!({ "kind": "workspace", "query": "parse_l" })));
    assert_eq!(chat.page.attribute(&format!("{OPTION} >> nth=0"), "aria-selected").as_deref(), Some("true"));
    chat.page.press("Enter");
    chat.page.types("do");
    let blocks = sent(&mut chat);
    assert_eq!(blocks[0], json!({ "type": "text", "text": "what does @parse_line do" }));
    let lines = format!("Of {path}, lines 5 to 10 are meant.");
    let link = json!({ "type": "resource_link", "uri": format!("file://{path}"), "name": "parser.rs" });
    assert_eq!(blocks[1..], [link, json!({ "type": "text", "text": lines })]);
    chat.page.sees(".from-user:has-text('what does') .chip:has-text('parser.rs')");
    assert_eq!(chat.page.complaints(), Vec::<String>::new());
}

#[test]
fn an_editor_that_does_not_answer_hides_no_file() {
    // The hub waits longer for it than this test.
    let mut chat = idle_on(World::with_config("[limits]\ncall_seconds = 60\n"), &json!({}));
    chat.world.file("parser.rs", "");
    let editor = editor_with_symbols(&chat.world, &json!([]));
    editor.state().silent.push("language/symbols".into());
    // At once, so that nothing is asked for fewer letters.
    chat.page.fill(COMPOSER, "@parser");
    chat.page.sees(&format!("{OPTION}:has-text('parser.rs')"));
    chat.page.press("Tab");
    let uri = sent(&mut chat)[1]["uri"].as_str().unwrap().to_owned();
    assert!(uri.ends_with("/parser.rs"), "{uri}");
}

/// In a page: bytes of a picture with these many pixels on each side.
const PICTURE: &str = "async (side) => {
    const canvas = new OffscreenCanvas(side, side);
    canvas.getContext('2d').fillRect(0, 0, side, side);
    return canvas.convertToBlob({ type: 'image/png' });
}";

/// In a page: the pixels on a side of the picture with these bytes in Base64.
const SIDE: &str = "async (data) => {
    const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
    return (await createImageBitmap(new Blob([bytes]))).width;
}";

#[test]
fn a_picture_from_the_clipboard_reaches_the_agent_as_it_is() {
    let mut chat = idle(&json!({ "permissions": ["clipboard-read", "clipboard-write"] }));
    chat.page.click(COMPOSER);
    chat.page.evaluate(&format!(
        "(async () => {{
            const blob = await ({PICTURE})(20);
            await navigator.clipboard.write([new ClipboardItem({{ 'image/png': blob }})]);
            return 0;
        }})()"
    ));
    chat.page.press("Control+v");
    chat.page.sees(".composer canvas.picture");
    chat.page.types("look");
    let blocks = sent(&mut chat);
    assert_eq!(blocks[0], json!({ "type": "text", "text": "look" }));
    assert_eq!(
        (blocks.len(), &blocks[1]["type"], &blocks[1]["mimeType"]),
        (2, &json!("image"), &json!("image/png"))
    );
    let side = format!("({SIDE})({})", blocks[1]["data"]);
    assert_eq!(chat.page.evaluate(&side), json!(20));
    chat.page.sees(".from-user >> nth=1 >> canvas.picture");
    chat.page.sees_no(".composer canvas.picture");
    assert_eq!(chat.page.complaints(), Vec::<String>::new());
}

#[test]
fn a_dropped_file_and_a_dropped_picture_reach_the_agent() {
    let mut chat = idle(&json!({}));
    let path = chat.world.file("notes/plan.txt", "first this, then that\n");
    chat.page.evaluate(&format!(
        "(async () => {{
            const data = new DataTransfer();
            data.items.add(new File([await ({PICTURE})(4)], 'shot.png', {{ type: 'image/png' }}));
            data.items.add(new File(['first this, then that'], 'plan.txt', {{ type: 'text/plain' }}));
            const drop = new DragEvent('drop', {{ dataTransfer: data, bubbles: true, cancelable: true }});
            document.querySelector(\"{COMPOSER}\").dispatchEvent(drop);
            return drop.defaultPrevented;
        }})()"
    ));
    chat.page.sees(".composer canvas.picture[aria-label='Picture: shot.png']");
    chat.page.says(".composer .files", "plan.txt");
    chat.page.click(COMPOSER);
    chat.page.types("see both");
    let blocks = sent(&mut chat);
    let link = json!({ "type": "resource_link", "uri": format!("file://{path}"), "name": "plan.txt" });
    assert_eq!(blocks[0]["text"], "see both");
    assert!(blocks.contains(&link), "{blocks:?}");
    let pictures: Vec<&Value> = blocks.iter().filter(|block| block["type"] == "image").collect();
    assert_eq!((pictures.len(), &pictures[0]["mimeType"]), (1, &json!("image/png")), "{blocks:?}");
    chat.agent.ends(&chat.prompt, "end_turn");
    chat.page.sees(".chat[data-state='idle']");
    // From an editor or a file manager that gives the address.
    chat.page.evaluate(&format!(
        "(() => {{
            const data = new DataTransfer();
            data.setData('text/uri-list', {uri});
            document.querySelector(\"{COMPOSER}\").dispatchEvent(new DragEvent('drop', {{ dataTransfer: data, bubbles: true, cancelable: true }}));
            return 0;
        }})()",
        uri = json!(format!("file://{path}"))
    ));
    chat.page.types("again");
    assert_eq!(sent(&mut chat), [json!({ "type": "text", "text": "again" }), link]);
    assert_eq!(chat.page.complaints(), Vec::<String>::new());
}
