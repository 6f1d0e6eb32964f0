//! Which ports are meant by a number: a home directory may be seen from several machines and containers, and each
//! has its own. Names the files that tell; reads none of them.

use std::path::Path;

/// Holds a word for this start of the machine.
pub const PORT_SPACE_BOOT: &str = "/proc/sys/kernel/random/boot_id";

/// Is a link that names the network of this process.
pub const PORT_SPACE_NETWORK: &str = "/proc/self/ns/net";

/// A word that is the same for two processes only if a port is the same for both; of what the two files above hold.
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
