//! What kinds of secrets there are (decision E10).

/// The kind of a secret, as the marker names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Category {
    /// Keys of a provider's interface, client secrets, webhooks' signing keys.
    ApiKey,
    /// Passwords, passphrases, password hashes.
    Password,
    /// Access tokens, session identifiers, cookies.
    Token,
    /// Private keys in any form: PEM, arrays of numbers, seeds, mnemonics.
    PrivateKey,
    /// Connection strings with a password in them.
    DatabaseUrl,
    /// Amazon's access keys, secrets and signatures.
    Aws,
    /// Google's keys and tokens.
    Gcp,
    /// Microsoft's account keys, client secrets and signatures.
    Azure,
    /// Names and passwords of HTTP.
    BasicAuth,
    /// Passwords and tokens in git's URLs and helpers.
    GitCredential,
    /// Card numbers that pass the Luhn check.
    CreditCard,
    /// Social security numbers of the United States.
    Ssn,
    /// Telephone numbers.
    Phone,
    /// Seeds of one-time passwords.
    TotpSeed,
    /// JSON web tokens.
    Jwt,
    /// Hex strings of 32 digits or more that nothing explains.
    HighEntropyHex,
}

impl Category {
    /// All of them, in the order of decision E10.
    pub const ALL: [Self; 16] = [
        Self::ApiKey,
        Self::Password,
        Self::Token,
        Self::PrivateKey,
        Self::DatabaseUrl,
        Self::Aws,
        Self::Gcp,
        Self::Azure,
        Self::BasicAuth,
        Self::GitCredential,
        Self::CreditCard,
        Self::Ssn,
        Self::Phone,
        Self::TotpSeed,
        Self::Jwt,
        Self::HighEntropyHex,
    ];

    /// The name in the marker.
    pub fn name(self) -> &'static str {
        match self {
            Self::ApiKey => "api_key",
            Self::Password => "password",
            Self::Token => "token",
            Self::PrivateKey => "private_key",
            Self::DatabaseUrl => "database_url",
            Self::Aws => "aws",
            Self::Gcp => "gcp",
            Self::Azure => "azure",
            Self::BasicAuth => "basic_auth",
            Self::GitCredential => "git_credential",
            Self::CreditCard => "credit_card",
            Self::Ssn => "ssn",
            Self::Phone => "phone",
            Self::TotpSeed => "totp_seed",
            Self::Jwt => "jwt",
            Self::HighEntropyHex => "high_entropy_hex",
        }
    }

    /// What replaces a secret: `[REDACTED:name]`.
    pub fn marker(self) -> &'static str {
        match self {
            Self::ApiKey => "[REDACTED:api_key]",
            Self::Password => "[REDACTED:password]",
            Self::Token => "[REDACTED:token]",
            Self::PrivateKey => "[REDACTED:private_key]",
            Self::DatabaseUrl => "[REDACTED:database_url]",
            Self::Aws => "[REDACTED:aws]",
            Self::Gcp => "[REDACTED:gcp]",
            Self::Azure => "[REDACTED:azure]",
            Self::BasicAuth => "[REDACTED:basic_auth]",
            Self::GitCredential => "[REDACTED:git_credential]",
            Self::CreditCard => "[REDACTED:credit_card]",
            Self::Ssn => "[REDACTED:ssn]",
            Self::Phone => "[REDACTED:phone]",
            Self::TotpSeed => "[REDACTED:totp_seed]",
            Self::Jwt => "[REDACTED:jwt]",
            Self::HighEntropyHex => "[REDACTED:high_entropy_hex]",
        }
    }

    /// The category of a name, the inverse of [`Self::name`].
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|category| category.name() == name)
    }

    /// Which category wins where two findings overlap: the one whose rule knows more about the text.
    pub(super) fn rank(self) -> u8 {
        match self {
            Self::PrivateKey => 9,
            Self::DatabaseUrl | Self::TotpSeed => 8,
            Self::Jwt | Self::GitCredential => 7,
            Self::Aws | Self::Gcp | Self::Azure => 6,
            Self::BasicAuth => 5,
            Self::ApiKey => 4,
            Self::Token => 3,
            Self::Password => 2,
            Self::CreditCard | Self::Ssn | Self::Phone => 1,
            Self::HighEntropyHex => 0,
        }
    }
}

impl std::fmt::Display for Category {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.name())
    }
}
