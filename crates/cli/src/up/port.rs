//! The port of the API: taken first, so that nothing is made where it is in use, and opened once the API can answer.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;

use anyhow::Result;
use tokio::net::{TcpListener, TcpSocket};

use crate::error::Error;

/// Connections that wait to be accepted; the usual number of servers.
const BACKLOG: u32 = 1024;

/// Takes the port. Connections are refused until [`listen`]: a client that can connect finds the token and the API.
pub(super) fn bind(addr: SocketAddr) -> Result<TcpSocket> {
    let bound = match addr {
        SocketAddr::V4(_) => TcpSocket::new_v4(),
        SocketAddr::V6(_) => TcpSocket::new_v6(),
    };
    let bound = bound.and_then(|socket| {
        // A connection of the process before may linger on the port.
        socket.set_reuseaddr(true)?;
        socket.bind(addr)?;
        Ok(socket)
    });
    bound.map_err(|error| no_port(error, addr))
}

/// Accepts connections from now on.
pub(super) fn listen(socket: TcpSocket, addr: SocketAddr) -> Result<TcpListener> {
    let listening = socket.listen(BACKLOG);
    listening.map_err(|error| no_port(error, addr))
}

fn no_port(error: io::Error, addr: SocketAddr) -> anyhow::Error {
    let error = if error.kind() == ErrorKind::AddrInUse {
        let what = format!("another process listens on {addr} already");
        let next = "stop it, or give this one another address with `--listen ADDR:PORT`";
        Error::refused("address_in_use", what, next).into()
    } else {
        anyhow::Error::from(error)
    };
    error.context(format!("listening on {addr}"))
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpStream;

    use super::*;

    #[tokio::test]
    async fn a_port_is_taken_at_once_and_open_only_once_it_is_listened_on() {
        let socket = bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let addr = socket.local_addr().unwrap();
        let early = TcpStream::connect(addr).await.unwrap_err();
        assert_eq!(early.kind(), ErrorKind::ConnectionRefused);
        let _listener = listen(socket, addr).unwrap();
        assert!(TcpStream::connect(addr).await.is_ok());
        let taken = bind(addr).unwrap_err();
        let named = taken.downcast_ref::<Error>();
        assert!(format!("{named:?}").contains("address_in_use"), "{taken:?}");
    }
}
