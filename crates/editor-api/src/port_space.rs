//! Which machine or container a port number belongs to: several of them may share a home directory, and each has its
//! own ports. Names the files that identify it; reads none of them.

use std::path::Path;

/// Holds an id of the current boot.
pub const PORT_SPACE_BOOT: &str = "/proc/sys/kernel/random/boot_id";

/// A link that names the network namespace of this process.
pub const PORT_SPACE_NETWORK: &str = "/proc/self/ns/net";

/// An id that two processes share only if they share ports, made from the contents of the two files above.
pub fn port_space(boot: &str, network: &Path) -> Option<String> {
    let (boot, network) = (boot.trim(), network.to_str()?);
    (!boot.is_empty() && !network.is_empty()).then(|| format!("{boot} {network}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_container_and_another_start_have_other_ports() {
        let space = |boot, network| port_space(boot, Path::new(network));
        let ours = space("b1\n", "net:[1]");
        assert_eq!(ours, space("b1", "net:[1]"));
        assert_ne!(ours, space("b2", "net:[1]"));
        assert_ne!(ours, space("b1", "net:[2]"));
        assert_eq!(space("", "net:[1]"), None);
    }
}
