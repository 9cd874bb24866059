//! Choosing ports, and saying which one is taken.

use std::net::{Ipv4Addr, TcpListener};

use crate::{LocalnetError, chain::Ports};

/// What the user asked for; 0 is any free port, none the default.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wanted {
    pub(crate) rpc: Option<u16>,
    pub(crate) ws: Option<u16>,
    pub(crate) control: Option<u16>,
}

/// Default port of the RPC, as of every Solana test cluster.
pub const RPC_PORT: u16 = 8899;
/// Default port of the control endpoint.
pub const CONTROL_PORT: u16 = 8897;

/// Chooses the ports, and binds the control endpoint's.
///
/// Surfpool's servers share a port with whoever binds it the same way, so two clusters that look for free
/// ports at the same moment could get the same ones. The control listener is bound exclusively and the RPC's
/// free port is looked for right above it, so holding the one reserves the other.
pub(crate) fn choose(wanted: Wanted) -> Result<(TcpListener, Ports), LocalnetError> {
    let rpc = wanted.rpc.unwrap_or(RPC_PORT);
    // Somebody who asks for any RPC port runs several; their control ports must not meet either.
    let control = wanted.control.unwrap_or(if rpc == 0 { 0 } else { CONTROL_PORT });
    if rpc != 0 {
        let ws = match wanted.ws {
            Some(0) => free_port()?,
            Some(ws) => ws,
            None => rpc.checked_add(1).ok_or(LocalnetError::PortTaken { what: "websocket", port: rpc })?,
        };
        check("RPC", rpc)?;
        check("websocket", ws)?;
        return Ok((bind("control", control)?, Ports { rpc, ws }));
    }
    // Below the ports that systems hand out by themselves.
    const FIRST: u16 = 20_000;
    const COUNT: u16 = 12_000;
    let mut random = [0; 2];
    getrandom::fill(&mut random).map_err(|why| LocalnetError::Cluster(why.to_string()))?;
    // Blocks of three that never overlap: the guard of one must not be another's websocket port.
    const BLOCKS: u16 = COUNT / 3;
    let start = u16::from_le_bytes(random) % BLOCKS;
    for step in 0..BLOCKS {
        let base = FIRST + 3 * ((start + step) % BLOCKS);
        let Ok(guard) = bind("control", base) else { continue };
        let ws = match wanted.ws {
            Some(0) | None => base + 2,
            Some(ws) => ws,
        };
        if check("RPC", base + 1).is_err() || (ws == base + 2 && check("websocket", ws).is_err()) {
            continue;
        }
        if ws != base + 2 {
            check("websocket", ws)?;
        }
        let listener = if control == 0 { guard } else { bind("control", control)? };
        return Ok((listener, Ports { rpc: base + 1, ws }));
    }
    Err(LocalnetError::NoFreePorts)
}

fn bind(what: &'static str, port: u16) -> Result<TcpListener, LocalnetError> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(|_| LocalnetError::PortTaken { what, port })
}

fn check(what: &'static str, port: u16) -> Result<(), LocalnetError> {
    bind(what, port).map(drop)
}

fn free_port() -> Result<u16, LocalnetError> {
    bind("websocket", 0)?.local_addr().map(|address| address.port()).map_err(|_| LocalnetError::NoFreePorts)
}
