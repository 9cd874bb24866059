//! Completions for shells: those of clap, and what they lack for a program that runs other commands: behind it the
//! command's own completion works, as behind `sudo`.

use clap::{ArgAction, Command};
use clap_complete::Shell;

/// The script with which a shell completes a program's commands and options. Arguments called ID are completed by
/// `ids`, a command for `sh` that lists them, one a line; it must hold neither single quotes nor backslashes.
#[must_use]
pub fn script(shell: Shell, mut command: Command, ids: Option<&str>) -> String {
    let (mut script, name) = (Vec::new(), command.get_name().to_owned());
    clap_complete::generate(shell, &mut command, &name, &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    if !command.is_allow_external_subcommands_set() {
        return script;
    }
    let words = Words::of(&command, ids);
    match shell {
        Shell::Bash => script + &words.bash(&name),
        Shell::Zsh => words.zsh(&name, &script),
        Shell::Fish => script + &words.fish(&name),
        _ => script,
    }
}

/// What a program's words mean to whoever looks for the command behind them.
struct Words {
    /// Its own commands.
    own: Vec<String>,
    /// Options that take the word after them.
    valued: Vec<String>,
    /// Its commands whose first argument is an id.
    of_ids: Vec<String>,
    /// Lists the ids.
    ids: String,
}

impl Words {
    fn of(command: &Command, ids: Option<&str>) -> Self {
        let options = command.get_arguments().filter(|option| {
            matches!(option.get_action(), ArgAction::Set | ArgAction::Append) && !option.is_positional()
        });
        let valued = options.flat_map(|option| {
            let long = option.get_long().map(|long| format!("--{long}"));
            long.into_iter().chain(option.get_short().map(|short| format!("-{short}")))
        });
        let takes_id = |command: &&Command| {
            let first = command.get_positionals().next();
            let names = first.and_then(clap::Arg::get_value_names).unwrap_or_default();
            names.first().is_some_and(|name| name.as_str() == "ID")
        };
        let named = |command: &Command| command.get_name().to_owned();
        Self {
            own: command.get_subcommands().map(named).collect(),
            valued: valued.collect(),
            of_ids: command.get_subcommands().filter(takes_id).map(named).collect(),
            ids: ids.unwrap_or("true").to_owned(),
        }
    }

    fn bash(&self, name: &str) -> String {
        let Self { own, valued, of_ids, ids } = self;
        let (own, valued, of_ids) = (own.join("|"), valued.join("|"), of_ids.join("|"));
        let of_ids = if of_ids.is_empty() { "-".to_owned() } else { of_ids };
        format!(
            r#"
# Behind {name} stands a command, whose own completion goes on from there.
_{name}_behind() {{
    local at=1 behind=
    while [[ $at -lt $COMP_CWORD ]]; do
        case "${{COMP_WORDS[at]}}" in
            --) at=$((at + 1)); behind=yes; break ;;
            {valued})
                if [[ "${{COMP_WORDS[at + 1]}}" == "=" ]]; then at=$((at + 3)); else at=$((at + 2)); fi ;;
            -*) at=$((at + 1)) ;;
            run) at=$((at + 1)); behind=yes ;;
            *) break ;;
        esac
    done
    if [[ $at -gt $COMP_CWORD || ( $at -eq $COMP_CWORD && -z "$behind" ) ]]; then
        _{name} "$@"
        [[ $at -eq $COMP_CWORD && "$2" != -* ]] && COMPREPLY+=( $(compgen -c -- "$2") )
        return 0
    fi
    if [[ -z "$behind" ]]; then
        case "${{COMP_WORDS[at]}}" in
            {of_ids})
                if [[ $COMP_CWORD -eq $((at + 1)) && "$2" != -* ]]; then
                    COMPREPLY=( $(compgen -W "$(sh -c '{ids}')" -- "$2") )
                    return 0
                fi ;;
        esac
        case "${{COMP_WORDS[at]}}" in
            {own}) _{name} "$@"; return 0 ;;
        esac
    fi
    if [[ $at -eq $COMP_CWORD ]]; then
        COMPREPLY=( $(compgen -c -- "$2") )
    elif declare -F _comp_command_offset > /dev/null; then
        _comp_command_offset "$at"
    elif declare -F _command_offset > /dev/null; then
        _command_offset "$at"
    else
        compopt -o filenames 2> /dev/null
        COMPREPLY=( $(compgen -f -- "$2") )
    fi
}}
complete -F _{name}_behind -o bashdefault -o default {name}
"#
        )
    }

    fn zsh(&self, name: &str, script: &str) -> String {
        let Self { own, valued, of_ids, ids } = self;
        let (own, valued, of_ids) = (own.join(" "), valued.join("|"), of_ids.join(" "));
        let behind = format!(
            r#"
# Behind {name} stands a command, whose own completion goes on from there.
_{name}() {{
    local at=2 behind=
    local -a own=({own}) of_ids=({of_ids})
    while (( at < CURRENT )); do
        case "$words[at]" in
            (--) (( at += 1 )); behind=yes; break ;;
            ({valued}) (( at += 2 )) ;;
            (-*) (( at += 1 )) ;;
            (run) (( at += 1 )); behind=yes ;;
            (*) break ;;
        esac
    done
    if (( at > CURRENT )) || [[ $at -eq $CURRENT && -z "$behind" ]]; then
        _{name}_own "$@"
        (( at == CURRENT )) && [[ "$words[CURRENT]" != -* ]] && _command_names -e
        return 0
    fi
    if [[ -z "$behind" ]] && (( $own[(Ie)$words[at]] )); then
        if (( $of_ids[(Ie)$words[at]] && CURRENT == at + 1 )) && [[ "$words[CURRENT]" != -* ]]; then
            compadd -- ${{(f)"$(sh -c '{ids}')"}}
            return 0
        fi
        _{name}_own "$@"
        return
    fi
    shift $(( at - 1 )) words
    (( CURRENT -= at - 1 ))
    _normal
}}

if [ "$funcstack[1]" = "_{name}" ]; then"#
        );
        let start = format!("if [ \"$funcstack[1]\" = \"_{name}\" ]; then");
        let (head, tail) = script.rsplit_once(&start).unwrap_or((script, ""));
        let head = head.replacen(&format!("\n_{name}() {{"), &format!("\n_{name}_own() {{"), 1);
        format!("{head}{}{tail}", behind.trim_start())
    }

    fn fish(&self, name: &str) -> String {
        let mut script = format!("\nfunction __fish_{name}_ids\n    sh -c '{}'\nend\n", self.ids);
        for command in &self.of_ids {
            script.push_str(&format!(
                "complete -c {name} -n \"__fish_{name}_using_subcommand {command}\" -f -a \"(__fish_{name}_ids)\"\n"
            ));
        }
        script
    }
}
