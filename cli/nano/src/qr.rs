//! The commands of `nano-escrow qr`.

use clap::Args;
use qrcode::QrCode;
use qrcode::render::unicode::Dense1x2;
use serde_json::json;

use super::{Failure, Output};
use nano_escrow::{Address, Error, Raw};

#[derive(Debug, Args)]
pub(crate) struct QrArgs {
    /// Address of the recipient: nano_... or xrb_...
    #[arg(value_name = "ADDRESS")]
    address: String,

    /// Amount in XNO, such as 1.5
    #[arg(long, value_name = "XNO", conflicts_with = "raw", allow_hyphen_values = true)]
    amount: Option<String>,

    /// Amount in raw
    #[arg(long, value_name = "RAW", allow_hyphen_values = true)]
    raw: Option<String>,

    /// For a terminal with dark text on a light background
    #[arg(long)]
    light: bool,

    /// Print only the link, not the QR code
    #[arg(long)]
    text: bool,
}

pub(crate) fn run(args: QrArgs, out: &Output) -> Result<(), Failure> {
    let address: Address = args.address.parse()?;
    if address.is_burn() {
        return Err(Error::Burn.into());
    }
    let amount = match (&args.amount, &args.raw) {
        (Some(xno), _) => Some(Raw::from_xno(xno)?.nonzero()?),
        (None, Some(raw)) => Some(raw.parse::<Raw>()?.nonzero()?),
        (None, None) => None,
    };
    let uri = address.uri(amount);
    let code = QrCode::new(&uri).map_err(Failure::system)?;
    // Letters are light on most terminals, so the ground of the code is drawn, and its dark squares are left
    // out.
    let (dark, light) =
        if args.light { (Dense1x2::Dark, Dense1x2::Light) } else { (Dense1x2::Light, Dense1x2::Dark) };
    let picture = code.render::<Dense1x2>().dark_color(dark).light_color(light).build();
    let value = json!({
        "uri": uri,
        "address": address,
        "raw": amount,
        "xno": amount.map(Raw::xno),
        "qr": picture.lines().collect::<Vec<_>>(),
    });
    out.print(&value, || if args.text { uri.clone() } else { format!("{uri}\n{picture}") })
}
