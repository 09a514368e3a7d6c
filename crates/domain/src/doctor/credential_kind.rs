//! What kind of credential a text is, by its first characters: services refuse a foreign one, and should not be sent it.

/// What kind of credential a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CredentialKind {
    /// A key of Google's: `AIza…` or `AQ.…`.
    Google,
    /// A classic token of a person: `ghp_…`, or an OAuth token `gho_…`.
    GithubClassic,
    /// A fine-grained token of a person: `github_pat_…`.
    GithubFineGrained,
    /// A token of an installation, which the Actions token is: `ghs_…`.
    GithubInstallation,
    /// A token of a person for an App: `ghu_…` or `ghr_…`.
    GithubUser,
    /// A token of Gaffer's own HTTP API: `gaf_…`.
    Gaffer,
    /// A private key in PEM.
    PrivateKey,
    /// A secret of Standard Webhooks: `whsec_…`.
    Signing,
    /// Nothing that gives itself away.
    Plain,
}

/// Prefixes of credentials. Of two with a common beginning the longer one comes first.
const BEGINNINGS: [(&str, CredentialKind); 11] = [
    ("AIza", CredentialKind::Google),
    ("AQ.", CredentialKind::Google),
    ("github_pat_", CredentialKind::GithubFineGrained),
    ("ghp_", CredentialKind::GithubClassic),
    ("gho_", CredentialKind::GithubClassic),
    ("ghs_", CredentialKind::GithubInstallation),
    ("ghu_", CredentialKind::GithubUser),
    ("ghr_", CredentialKind::GithubUser),
    ("gaf_", CredentialKind::Gaffer),
    ("-----BEGIN", CredentialKind::PrivateKey),
    ("whsec_", CredentialKind::Signing),
];

impl CredentialKind {
    /// The shape of a text.
    pub fn detect(secret: &str) -> Self {
        let secret = secret.trim_start();
        let found = BEGINNINGS
            .iter()
            .find(|(beginning, _)| secret.starts_with(beginning));
        found.map_or(Self::Plain, |(_, shape)| *shape)
    }

    /// In words, with its article.
    pub fn words(self) -> &'static str {
        match self {
            Self::Google => "a key of Google's",
            Self::GithubClassic => "a token of GitHub's",
            Self::GithubFineGrained => "a fine-grained token of GitHub's",
            Self::GithubInstallation => "a token of a GitHub App's installation",
            Self::GithubUser => "a token of a person for a GitHub App",
            Self::Gaffer => "a token of Gaffer's own API",
            Self::PrivateKey => "a private key",
            Self::Signing => "a secret for signing webhooks",
            Self::Plain => "a text without a known beginning",
        }
    }

    /// Whether it may be a key of Jules's: a key of Google's, or a text without another recognisable origin.
    pub fn may_be_jules(self) -> bool {
        match self {
            Self::Google | Self::Plain => true,
            Self::GithubClassic
            | Self::GithubFineGrained
            | Self::GithubInstallation
            | Self::GithubUser
            | Self::Gaffer
            | Self::PrivateKey
            | Self::Signing => false,
        }
    }

    /// Whether it may be what GitHub is asked with: a private key for an App, a token otherwise.
    pub fn may_be_github(self, is_app: bool) -> bool {
        match self {
            Self::PrivateKey => is_app,
            Self::GithubClassic
            | Self::GithubFineGrained
            | Self::GithubInstallation
            | Self::GithubUser
            | Self::Plain => !is_app,
            Self::Google | Self::Gaffer | Self::Signing => false,
        }
    }

    /// Whether it may be the bearer token of our own HTTP API: nothing of another service.
    pub fn may_be_api_token(self) -> bool {
        match self {
            Self::Gaffer | Self::Plain => true,
            Self::Google
            | Self::GithubClassic
            | Self::GithubFineGrained
            | Self::GithubInstallation
            | Self::GithubUser
            | Self::PrivateKey
            | Self::Signing => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_known_by_their_beginning() {
        for (text, shape) in [
            ("AIzaSyX", CredentialKind::Google),
            (" AQ.Ab", CredentialKind::Google),
            ("ghp_x", CredentialKind::GithubClassic),
            ("github_pat_11", CredentialKind::GithubFineGrained),
            ("ghs_x", CredentialKind::GithubInstallation),
            ("gaf_0", CredentialKind::Gaffer),
            (
                "-----BEGIN RSA PRIVATE KEY-----",
                CredentialKind::PrivateKey,
            ),
            ("whsec_MfKQ", CredentialKind::Signing),
            ("sandbox-key", CredentialKind::Plain),
            ("", CredentialKind::Plain),
        ] {
            assert_eq!(CredentialKind::detect(text), shape, "{text}");
        }
    }

    #[test]
    fn each_place_takes_only_its_own_kind() {
        assert!(
            CredentialKind::Google.may_be_jules() && !CredentialKind::Google.may_be_github(false)
        );
        assert!(
            CredentialKind::GithubClassic.may_be_github(false)
                && !CredentialKind::GithubClassic.may_be_github(true)
        );
        assert!(
            CredentialKind::PrivateKey.may_be_github(true)
                && !CredentialKind::PrivateKey.may_be_github(false)
        );
        assert!(
            CredentialKind::Gaffer.may_be_api_token() && !CredentialKind::Gaffer.may_be_jules()
        );
        assert!(!CredentialKind::Google.may_be_api_token());
    }
}
