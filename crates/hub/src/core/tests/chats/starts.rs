//! Whether an agent may be started, which the user decides for a folder and a command.

use super::*;
use crate::core::contract::ChatPeer;

#[test]
fn an_agent_that_may_not_be_started_yet_is_not_called_connected() {
    let mut hub = hub();
    hub.start_chat();
    let agents = |hub: &mut CoreHarness| {
        let id = hub.request(READER, "hub/status", json!({}));
        hub.wait_seconds(2);
        let status = hub.response_to(READER, id).unwrap()["result"].clone();
        status["windows"][0]["agents"].as_array().unwrap_or_else(|| panic!("{status}")).len()
    };
    assert_eq!(agents(&mut hub), 0);
    hub.allow_all();
    hub.begins();
    assert_eq!(agents(&mut hub), 1);
}

#[test]
fn an_agent_is_started_only_after_the_user_allowed_it_in_that_folder() {
    let mut hub = hub();
    hub.start_chat();
    assert!(hub.children.is_empty(), "nobody allowed it");
    let asks = hub.chat("asks/list", json!({}));
    let ask = &asks["result"]["asks"][0];
    assert!(ask["detail"].as_str().unwrap().contains("gemini --acp"), "{ask}");
    assert_eq!(ask["options"], json!(["allowOnce", "deny"]));
    hub.allow_all();
    let (agent, ChatPeer::Process(command)) = hub.children[0].clone() else { panic!("not a program") };
    assert_eq!(command.arguments, ["--acp"]);
    assert_eq!(command.cwd, std::path::PathBuf::from("/ws"));
    assert!(hub.told(agent, "initialize").is_some());
    hub.start_chat();
    assert_eq!(hub.children.len(), 2, "it was allowed in this folder before");
}

#[test]
fn an_agent_whose_command_changed_is_started_only_after_the_user_allowed_that_one() {
    let other = || {
        let command = vec!["gemini".into(), "--acp".into(), "--yolo".into()];
        Ok(vec![HostedAgent { command, ..hosted(Some("/bin/gemini")) }])
    };
    for restarts_hub in [false, true] {
        let mut hub = hub();
        let agent = hub.ready_chat();
        if restarts_hub {
            hub = hub.restart();
            hub.attach(EDITOR, json!({}));
            hub.event(Event::ConnectionOpened { connection: READER });
        } else {
            hub.event(Event::ChildEnded { agent, why: "it ended (signal: 9)".into() });
        }
        hub.hosted_agents = other();
        let before = hub.children.len();
        hub.say("again");
        assert_eq!(hub.children.len(), before, "nobody allowed this command");
        let asks = hub.chat("asks/list", json!({}));
        let ask = &asks["result"]["asks"][0];
        assert!(ask["detail"].as_str().is_some_and(|detail| detail.contains("--yolo")), "{ask}");
        hub.allow_all();
        assert_eq!(hub.children.len(), before + 1);
        hub.start_chat();
        assert_eq!(hub.children.len(), before + 2, "this command was allowed here");
        hub.hosted_agents = Ok(vec![hosted(Some("/bin/gemini"))]);
        hub.start_chat();
        assert_eq!(hub.children.len(), before + 2, "the first one is no longer what was allowed");
    }
}

#[test]
fn a_refused_start_stops_the_conversation_and_starts_nothing() {
    let mut hub = hub();
    hub.start_chat();
    let asks = hub.chat("asks/list", json!({}));
    hub.chat("asks/answer", json!({ "ask": asks["result"]["asks"][0]["ask"], "option": "deny" }));
    assert!(hub.children.is_empty());
    assert_eq!(hub.state()["kind"], "stopped");
    assert!(hub.state()["why"].as_str().unwrap().contains("refused"));
}

#[test]
fn what_cannot_be_started_is_said_with_the_way_to_install_it() {
    let mut hub = hub();
    hub.hosted_agents = Ok(vec![hosted(None)]);
    let agents = hub.chat("chat/agents", json!({}));
    assert_eq!(agents["result"]["agents"][0]["installed"], false);
    let answer = hub.chat("chat/start", json!({ "agent": "gemini", "folder": "/ws" }));
    assert!(answer["error"]["message"].as_str().unwrap().contains("install it"), "{answer}");
    for (agent, folder) in
        [("gemini", "/elsewhere"), ("gemini", "/ws/../etc"), ("other", "/ws"), ("gemini", "ws")]
    {
        let answer = hub.chat("chat/start", json!({ "agent": agent, "folder": folder }));
        assert!(answer["error"].is_object(), "{agent} {folder}");
    }
}

#[test]
fn a_question_that_is_answered_in_the_chat_of_an_editor_is_taken_off_that_editor() {
    let mut hub = CoreHarness::new();
    hub.hosted_agents = Ok(vec![hosted(Some("/bin/gemini"))]);
    hub.attach(EDITOR, json!({ "questions": true }));
    hub.request(EDITOR, "chat/start", json!({ "agent": "gemini", "folder": "/ws" }));
    let asked = hub.requests_to_editor("user/ask")[0]["params"]["ask"].clone();
    hub.request(EDITOR, "asks/answer", json!({ "ask": asked, "option": "allowOnce" }));
    assert_eq!(hub.requests_to_editor("user/unask").len(), 1, "its notification is elsewhere");
    assert_eq!(hub.children.len(), 1);
}
