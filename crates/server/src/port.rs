//! The port of the API: taken first, so that nothing is made where it is in use, and opened once the API can answer.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;

use tokio::net::{TcpListener, TcpSocket};

/// Connections that wait to be accepted; the usual number of servers.
const BACKLOG: u32 = 1024;

/// Why the API has no port.
#[derive(Debug, thiserror::Error)]
pub enum PortError {
    /// Another process has it.
    #[error("listening on {0}: another process listens on it already")]
    InUse(SocketAddr),
    /// The system refuses it.
    #[error("listening on {addr}")]
    Refused {
        /// The address.
        addr: SocketAddr,
        /// What the system said.
        #[source]
        error: io::Error,
    },
}

/// Takes the port. Connections are refused until [`listen`]: a client that can connect finds the token and the API.
pub fn bind(addr: SocketAddr) -> Result<TcpSocket, PortError> {
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
pub(super) fn listen(socket: TcpSocket, addr: SocketAddr) -> Result<TcpListener, PortError> {
    let listening = socket.listen(BACKLOG);
    listening.map_err(|error| no_port(error, addr))
}

fn no_port(error: io::Error, addr: SocketAddr) -> PortError {
    if error.kind() == ErrorKind::AddrInUse {
        PortError::InUse(addr)
    } else {
        PortError::Refused { addr, error }
    }
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
        assert!(matches!(taken, PortError::InUse(_)), "{taken:?}");
    }
}
