//! A sealed root: an image, what is bound into it, volumes, services on its own loopback.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::symlink;

use rustix::fs::{Mode, OFlags};
use zx1_sandbox::{Canceller, Command, LimitKind, Limits, Network, Sandbox, Sealed};

use crate::jail::plant as file;
use crate::scenarios;
use crate::world::{Who, good, limits, sh};

const IMAGE: &str = "/srv/image";

scenarios! {
    contained: a_sealed_root_shows_the_image_and_nothing_of_the_machine
        the_image_and_its_binds_cannot_be_written volumes_outlive_a_run_and_are_handed_out
        volumes_have_the_disk_limit_together services_are_reached_on_the_own_loopback_only
        a_long_run_goes_on_whatever_it_prints_and_ends_when_it_is_told
        a_point_that_is_missing_or_behind_a_link_fails;
    changing: ;
}

pub(crate) fn plant_image() {
    for folder in ["usr", "dev", "proc", "sys", "run", "tmp", "bot", "mnt/remote"] {
        fs::create_dir_all(format!("{IMAGE}/{folder}")).unwrap();
    }
    for link in ["bin", "sbin", "lib", "lib64"] {
        symlink(format!("usr/{link}"), format!("{IMAGE}/{link}")).unwrap();
    }
    file("/srv/image/etc/hostname", "capsule\n", 0o644);
    symlink("/etc", "/srv/image/link").unwrap();
}

fn root() -> Sealed {
    Sealed::new(IMAGE).bind("/usr", "/usr").volume("/bot")
}

fn sealed() -> Sandbox {
    let builder = Sandbox::builder().sealed(root()).disk_limit(32 << 20);
    builder.build().unwrap_or_else(|error| panic!("{error}"))
}

fn a_sealed_root_shows_the_image_and_nothing_of_the_machine(_: Who) {
    let mut sandbox = sealed();
    let names = good(&mut sandbox, "cd /; echo *");
    assert_eq!(names, "bin bot dev etc lib lib64 link mnt proc run sbin sys tmp usr\n");
    assert_eq!(
        good(&mut sandbox, "cat /etc/hostname; pwd; ls /etc /mnt"),
        "capsule\n/\n/etc:\nhostname\n\n/mnt:\nremote\n"
    );
    for path in
        ["/home", "/root", "/etc/important.conf", "/mnt/data", "/srv", "/host", "/upper", "/tmp/shared"]
    {
        assert!(!sh(&mut sandbox, &format!("test -e {path}")).success(), "{path}");
    }
    let mounts = good(&mut sandbox, "cat /proc/self/mountinfo");
    assert!(!mounts.contains("/home/u"), "{mounts}");
}

fn the_image_and_its_binds_cannot_be_written(_: Who) {
    let mut sandbox = sealed();
    for line in [
        "echo x > /etc/hostname",
        "touch /x",
        "touch /usr/x",
        "touch /mnt/remote/x",
        "chmod 777 /etc",
        "rm /link",
        "mount -o remount,rw /",
        "touch /dev/x",
        "touch /sys/x",
    ] {
        assert!(!sh(&mut sandbox, line).success(), "{line}");
    }
    good(&mut sandbox, "echo x > /bot/x && echo x > /tmp/x && echo x > /run/x && mkdir /bot/main");
}

fn volumes_outlive_a_run_and_are_handed_out(_: Who) {
    let mut sandbox = sealed();
    good(&mut sandbox, "echo kept > /bot/file; ln -s /etc/shadow /bot/link");
    assert_eq!(good(&mut sandbox, "cat /bot/file"), "kept\n");
    let open = |name: &str| {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW;
        rustix::fs::openat(sandbox.volume(0).unwrap(), name, flags, Mode::empty())
    };
    let mut text = String::new();
    File::from(open("file").unwrap()).read_to_string(&mut text).unwrap();
    assert_eq!(text, "kept\n");
    assert!(open("link").is_err());
    assert!(sandbox.volume(1).is_none(), "/tmp is the commands' own");
}

fn volumes_have_the_disk_limit_together(_: Who) {
    let mut sandbox = sealed();
    good(&mut sandbox, "head -c 20000000 /dev/zero > /bot/a");
    let outcome = sh(&mut sandbox, "head -c 20000000 /dev/zero > /tmp/b");
    assert!(!outcome.success() && outcome.stderr.text().contains("No space left"), "{outcome:?}");
    good(&mut sandbox, "rm /bot/a /tmp/b; head -c 20000000 /dev/zero > /tmp/b");
}

fn services_are_reached_on_the_own_loopback_only(_: Who) {
    let network = Network::Services(vec![9418, 8080]);
    let mut sandbox =
        Sandbox::builder().sealed(root()).disk_limit(32 << 20).network(network).build().unwrap();
    let line = "for port in 9418 8080; do exec 3<>/dev/tcp/127.0.0.1/$port; cat <&3; done; \
                ! (exec 4<>/dev/tcp/127.0.0.1/3128) 2>/dev/null && ! (exec 4<>/dev/tcp/192.0.2.1/80) 2>/dev/null";
    let command = Command::argv(["/bin/bash", "-c", line]);
    let mut threads = Vec::new();
    let outcome = sandbox.run_long(
        &command,
        &limits(),
        |_, _| {},
        |port, listener| {
            threads.push(std::thread::spawn(move || {
                let (mut stream, _) = listener.accept().unwrap();
                writeln!(stream, "service {port}").unwrap();
            }));
        },
    );
    let outcome = outcome.unwrap();
    assert_eq!(
        (outcome.stdout.text().as_ref(), outcome.exit),
        ("service 9418\nservice 8080\n", Some(0)),
        "{outcome:?}"
    );
    for thread in threads {
        thread.join().unwrap();
    }
}

fn a_long_run_goes_on_whatever_it_prints_and_ends_when_it_is_told(_: Who) {
    let mut sandbox = sealed();
    let canceller: Canceller = sandbox.canceller();
    let forever = Limits { time: std::time::Duration::MAX, output: 1_000, ..limits() };
    let mut seen = 0usize;
    let outcome = sandbox.run_long(
        &Command::shell("sleep 1000 & yes"),
        &forever,
        |_, bytes| {
            // Far past the 64 000 bytes that end another run.
            if seen < 1_000_000 && seen + bytes.len() >= 1_000_000 {
                canceller.cancel();
            }
            seen += bytes.len();
        },
        |_, _| {},
    );
    let outcome = outcome.unwrap();
    assert_eq!(outcome.limit_hit, Some(LimitKind::Canceled));
    assert!(outcome.stdout.truncated && outcome.stdout.bytes.len() < 2_000 && seen >= 1_000_000);
    assert_eq!(good(&mut sandbox, "echo next"), "next\n");
}

fn a_point_that_is_missing_or_behind_a_link_fails(_: Who) {
    for root in [
        Sealed::new(IMAGE).bind("/usr", "/nowhere"),
        Sealed::new(IMAGE).bind("/usr", "/link/x"),
        Sealed::new(IMAGE).bind("/usr", "/link"),
        Sealed::new(IMAGE).bind("/usr", "/../etc"),
        Sealed::new(IMAGE).bind("/usr", "usr"),
        Sealed::new(IMAGE).bind("/no-such-folder", "/usr"),
        Sealed::new(IMAGE).volume("/link"),
        Sealed::new(IMAGE).volume("/nowhere"),
        Sealed::new("/no-such-image"),
        Sealed::new(IMAGE).volume("/bot").volume("/mnt").volume("/usr").volume("/run"),
    ] {
        let built = Sandbox::builder().sealed(root.clone()).disk_limit(32 << 20).build();
        assert_eq!(built.err().map(|error| error.code()), Some(9214), "{root:?}");
    }
}
