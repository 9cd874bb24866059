//! Reads the bytes of an account as the chain has them: what they are is asked first.
use zx1_interface::accounts::LeaseAccount;
use zx1_interface::constants::LAYOUT_VERSION;
use zx1_interface::{Layout, discriminator, ids};

fn main() {
    assert_eq!(LeaseAccount::DISCRIMINATOR, discriminator("account:", LeaseAccount::NAME));
    assert_eq!(LeaseAccount::PROGRAM, ids::LEASE);
    for field in LeaseAccount::FIELDS {
        println!("{}: {}  {}", field.name, field.idl_type, field.doc);
    }

    // As a node answers: 8 bytes of discriminator, then the fields. Another kind of account is not read.
    let mut data = [0; LeaseAccount::SIZE];
    assert!(LeaseAccount::read(&data).is_none());
    let (head, _) = data.split_at_mut(8);
    head.copy_from_slice(&LeaseAccount::DISCRIMINATOR);
    if let Some(version) = data.get_mut(LeaseAccount::VERSION_AT) {
        *version = LAYOUT_VERSION;
    }
    let lease = LeaseAccount::read(&data);
    assert!(lease.is_some_and(|lease| lease.paid_through_epoch == 0));
}
