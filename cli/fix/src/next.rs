//! The next step after an error of a library.

use zx1_agent::bridge::BridgeError;
use zx1_agent::worker::WorkError;
use zx1_coded::Coded;
use zx1_log::LogError;
use zx1_market_client::ClientError;
use zx1_principal::{Refusal, Stopped};

/// After an error whose number says enough.
pub fn after_error(error: &impl Coded) -> Option<&'static str> {
    after(error.code())
}

/// After a call to the market.
pub fn after_call(error: &ClientError) -> Option<&'static str> {
    let ClientError::Refused(refused) = error else { return after(error.code()) };
    Some(match refused.status {
        400 | 422 => "correct what the sentence names; if you did not write it, update this program",
        401 => "set this machine's clock, and send the request once, signed anew",
        403 => "use the key of the party that may do this",
        404 => "check the contract id and the server's address",
        408 | 504 => "send it again over a better connection",
        409 => "read the contract again to see what can be done now",
        410 => "it is too late for this; read the contract to see what follows",
        413 => "send less",
        429 => "wait a little, then go on more slowly",
        501 => "this contract is in free mode; nobody rules on it",
        500.. => "try again later, or ask the server's operator",
        _ => "check that the address is a market server's",
    })
}

/// After an act that needs an envelope.
pub fn after_envelope(error: &BridgeError) -> Option<&'static str> {
    match error {
        BridgeError::Client(error) => after_call(error),
        BridgeError::Log { error: LogError::InUse { .. } } => {
            Some("wait until the other process (perhaps `zx1 keeper`) has ended, or stop it")
        }
        other => after(other.code()),
    }
}

/// After an agent's stop.
pub fn after_work(error: &WorkError) -> Option<&'static str> {
    match error {
        WorkError::Client(error) => after_call(error),
        WorkError::Bridge(error) => after_envelope(error),
        other => after(other.code()),
    }
}

/// After a refusal of a session.
pub fn after_refusal(refusal: &Refusal) -> Option<String> {
    match refusal {
        Refusal::Ended { id, .. } => Some(format!("fix show {id}")),
        other => after(other.code()).map(str::to_owned),
    }
}

/// After Ctrl+C in a contract.
pub fn after_stop(stopped: &Stopped) -> String {
    match stopped {
        Stopped::Canceled(id) => format!("fix show {id}"),
        Stopped::Halted { contract, .. } => {
            format!("fix resume {contract} to go on; fix show {contract}")
        }
        Stopped::Ended(id) | Stopped::GoesOn(id) => format!("fix resume {id}"),
    }
}

/// What helps after the error with this number; none where its sentence says all there is.
fn after(code: u32) -> Option<&'static str> {
    Some(match code {
        // The sandbox.
        9201 => {
            "raise user.max_user_namespaces or allow unprivileged user namespaces (in a container: run it with \
             them), or use `sudo fix`"
        }
        9202 => "install zx1-sandbox-init beside this program",
        9203 => "load the overlay module, or move the working tree to a local filesystem",
        9204 => "use `sudo fix` or a newer kernel",
        9205 => "a container that hides parts of /proc forbids it: run it with its /proc unmasked",
        9206 | 9207 => "enable it in the kernel, or in the container's profile",
        9208 => "this is not expected: please report it with this text",
        9209 => "start again",
        9210 | 9213 => "name another directory",
        9212 => "change the command",
        9220 => "discard the sandbox and start again",
        9221 => "look at the changes again and verify again",
        9222 => "look at the diff and agree to each kind, or discard (--yes never agrees to these)",
        9223 => "run it again in a new sandbox",
        9224 => "run it again with `sudo fix`",
        9225 => "make room and try again",
        9226 => "let the fix do without it",
        9227 => "change it by hand if you must",
        9229 => "let the fix see it: --see PATH",
        9228 => "let the fix make no files with holes, or raise the limit",
        9230 => "free the folder, or name another one",
        9231 | 9232 => "fix undo --list shows what can be undone",
        9233 => "move the file away first",
        9234 => "wait until the other process has ended",
        9235 => "remove the obstacle and start again",
        9240 => "write a name such as mirror.example.org or *.example.net",
        9241 => "try without network",

        // The wallet.
        8016 => "fix wallet balance shows what there is and the address to pay to",
        8042 => "send something to the wallet's address first: fix wallet balance",
        8201..=8203 => "check the node (--node) and run the command again: a payment is never made twice",
        8204 | 8206 => "give the address of a Nano node's RPC with --node, such as http://127.0.0.1:7076",
        8205 | 8604 | 8663 => "name the network of the wallet with --network, and a node of it with --node",
        8600 | 8601 => "check the disk and the folder, and try again; nothing is lost",
        8602 => "wait until the other process has ended, or stop it",
        8603 => "restore the key that the wallet was made with",
        8605 => "update fix",
        8644 => "choose a new name for each payment",
        8661 | 8662 | 8664 => "look at the account on another node (--node)",
        8665 => "run the command again later: it goes on where this one ended",

        // The rules, the user's own model.
        9300..=9304 => {
            "ask a model (fix --model MODEL, or fix init to keep one), or the market (fix --market)"
        }
        9310 | 9311 | 9317 | 9319 | 9324 => {
            "try again later, or ask another model (fix --model MODEL) or the market (fix --market)"
        }
        9313 => "raise it (fix config set model_budget USD, or model_tokens N), or go on tomorrow (UTC)",
        9318 => "start the model's server, or correct its address: fix config set model MODEL",
        9320 => {
            "set the key: FIX_API_KEY, OPENAI_API_KEY, OPENROUTER_API_KEY, or fix config set model_key FILE"
        }
        9312 | 9314..=9316 | 9321..=9323 => "check the model's name and address: fix config get model",
        9342 => "restore the budget's file in fix's folder, or remove it to begin at zero",

        // The market, the envelopes.
        9369 => "check the address (--server, FIX_SERVER), or start a market of your own: fix serve",
        9397 => "zx1 status shows it",
        9399 => "look at the contract again when the cluster answers: fix show",

        // The principal, models.
        9532 | 9533 => "fix undo --list shows all records",
        9540 => "rename the file, or put the command into a script",
        9541 => "check the path and its permissions",
        9544 => "read the error above",
        9572 => {
            "run it yourself, or run fix in a terminal to be asked; neither --yes nor --accept-corrected agrees to it"
        }
        9573 => {
            "check its spelling; to send it all the same, run fix in a terminal: --yes never agrees to it"
        }
        9574 => "ask another model (fix --model MODEL), or the market (fix --market)",
        9545 => "give an --expect without it",
        9546 => "attach files of this folder only",
        9547 => "run it in a terminal to be asked, or name the kind with --allow; --yes never agrees to it",
        9548 => "run it in a terminal to be asked, or add --accept-corrected; --yes alone never agrees to it",
        9549 => "run the command again with --explain to be shown and asked for all of them",
        9550 => "fix contracts lists them",
        9552 => "fix contracts lists yours",
        9553 => "move it away; the contract itself is safe on the server: fix contracts",
        9556 => "wait for it, or stop it with Ctrl+C in its terminal",
        9560 => "give --node URL and --network, or set them in config.toml under [wallet]",
        9561 => "name it with --network",
        9562 => "give --representative ADDRESS, or set it in config.toml under [wallet]",
        9563 => "give rules, openai:MODEL@URL, openrouter:MODEL, anthropic:MODEL or script:FILE",
        9565 => "give an address that begins with nano_",
        9566 => "give --cluster URL, or set cluster in config.toml under [zx1]",
        9570 => {
            "show the sandbox what the command needs (--see PATH, --env NAME), or run it in a terminal and judge yourself"
        }
        9571 => "look at what the command says now; files do not explain what differs outside of the sandbox",
        9567 => "unset FIX_TEST_CLOCK; it is for tests of fix serve --test-clock",
        _ => return None,
    })
}
