"""`treaty completion SHELL` prints the script by which bash, zsh or fish, and not `treaty sql`, completes commands, options and subjects."""

import click
from click.shell_completion import get_completion_class

SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_TREATY_COMPLETE"
"""Environment variable by which the script asks the program for completions; click derives it from the program's name."""

BASH = """\
_treaty_completion() {
    local line="${COMP_LINE:0:COMP_POINT}" response type value current before=""
    local -a words
    read -ra words <<< "$line"
    local last=$(( ${#words[@]} - 1 ))
    [[ $line == *[[:space:]] ]] && last=$(( last + 1 ))
    current="${words[last]}"
    # bash ends words at colons, so what stands before the last one of a word is there already
    [[ $COMP_WORDBREAKS == *:* && $current == *:* ]] && before="${current%"${current##*:}"}"
    response=$(COMP_WORDS="$line" COMP_CWORD=$last _TREATY_COMPLETE=bash_complete "$1")
    COMPREPLY=()
    while IFS=, read -r type value; do
        case $type in
            dir) compopt -o dirnames 2>/dev/null ;;
            file) compopt -o default 2>/dev/null ;;
            plain) COMPREPLY+=("${value#"$before"}") ;;
        esac
    done <<< "$response"
}
complete -F _treaty_completion treaty
"""
"""The script for bash. Click's own treats each part of a URL or of a qualified subject as a word."""


@click.command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print the script for SHELL: bash, zsh or fish.

    Subject names are completed too, from the registry in --registry or TREATY_REGISTRY, if it answers within a second.

    \b
    Examples:
      treaty completion bash > ~/.local/share/bash-completion/completions/treaty
      treaty completion zsh > ~/.zfunc/_treaty
      treaty completion fish > ~/.config/fish/completions/treaty.fish
    """  # noqa: D301 - click wants the control character
    if shell == "bash":
        click.echo(BASH, nl=False)
        return
    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(ctx.find_root().command, {}, "treaty", VARIABLE).source())
