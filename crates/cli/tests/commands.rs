//! Every command from outside.

#[cfg(test)]
mod support;

#[cfg(test)]
mod tests {
    use crate::support::*;

    #[test]
    fn status_shows_an_agent_that_answers_and_no_other() {
        let world = World::new();
        let serve = world.serve();
        let agent = Agent::claude(&world, serve.port);
        let status = world.status();
        assert_eq!(status["windows"][0]["agents"][0]["name"], "claude-code");
        agent.freeze();
        let status = world.status();
        assert_eq!(status["windows"][0]["agents"].as_array().unwrap().len(), 0);
    }
}
