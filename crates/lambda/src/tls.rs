//! The cryptography beneath HTTPS to Jules, GitHub and agents.

/// Has ring do the cryptography of this process, as `gaffer up` does. Clients that find none installed refuse to be built.
pub fn trust_ring() {
    // Only fails when one is installed already, which serves as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
}
