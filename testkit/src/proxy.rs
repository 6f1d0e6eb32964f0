//! A proxy of the hub's socket, which can cut off everything that connected through it.

use std::fs::{self, Permissions};
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;

use super::World;

pub struct Proxy {
    /// The runtime directory for processes that should connect through this proxy.
    pub runtime: PathBuf,
    inside: Arc<Mutex<Vec<UnixStream>>>,
}

impl Proxy {
    /// For a hub that is already running.
    pub fn to(world: &World) -> Proxy {
        let runtime = world.folder("p");
        let folder = runtime.join("linkspan");
        fs::create_dir(&folder).unwrap();
        fs::set_permissions(&folder, Permissions::from_mode(0o700)).unwrap();
        let listener = UnixListener::bind(folder.join("hub.sock")).unwrap();
        let (hub, inside) = (world.socket(), Arc::default());
        let those_inside = Arc::clone(&inside);
        // Ends with the program: nothing connects once the world is gone.
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                pass_on(stream, &hub, &those_inside);
            }
        });
        Proxy { runtime, inside }
    }

    /// Ends every connection, on both sides; new ones are accepted.
    pub fn cut_off(&self) {
        for stream in self.inside.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

fn pass_on(from: UnixStream, hub: &Path, inside: &Mutex<Vec<UnixStream>>) {
    let Ok(to) = UnixStream::connect(hub) else { return };
    let mut inside = inside.lock().unwrap();
    for (from, to) in [(&from, &to), (&to, &from)] {
        inside.push(from.try_clone().unwrap());
        let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
        thread::spawn(move || copy(from, to));
    }
}

fn copy(mut from: UnixStream, mut to: UnixStream) {
    let mut buffer = [0; 16 * 1024];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        if to.write_all(&buffer[..length]).is_err() {
            break;
        }
    }
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}
