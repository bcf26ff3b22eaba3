/** `completion`: scripts that complete commands, options, values and files in shells. */

import { parseArguments } from "./arguments.js";
import { Mistake } from "./mistakes.js";
import { COMMANDS, entriesOf, type OptionEntry, optionsOf, SHELLS } from "./options.js";
import { ExitStatus } from "./process.js";
import { writeOut } from "./write.js";

/** Runs `completion`. */
export async function completionCommand(args: readonly string[]): Promise<ExitStatus> {
  const { positionals } = parseArguments(args, optionsOf("completion"));
  const [shell, ...others] = positionals;
  if (shell === undefined || others.length > 0) {
    throw new Mistake(shell === undefined ? "no shell is named" : "only one shell can be named", {
      help: `adk-metrics completion ${SHELLS.join("|")}`,
    });
  }
  const scripts = { bash, zsh, fish };
  const known = SHELLS.find((name) => name === shell);
  if (known === undefined) {
    throw new Mistake(`there is no completion for \`${shell}\``, { help: `It is one of ${SHELLS.join(", ")}` });
  }
  await writeOut(scripts[known]());
  return ExitStatus.Passed;
}

/** What a command takes besides options. */
function argumentsOf(command: string): readonly string[] | "files" {
  return command === "completion" ? SHELLS : "files";
}

const flags = (entries: readonly OptionEntry[]) =>
  entries.flatMap(({ name, short }) => [`--${name}`, ...(short === undefined ? [] : [`-${short}`])]);

function bash(): string {
  const commands = COMMANDS.map((command) => {
    const entries = entriesOf(command);
    const values = entries.filter(({ value }) => value !== undefined);
    const cases = values.map(({ name, words = [], takesPath = false }) => {
      return `        --${name}) words="${words.join(" ")}"; files=${takesPath ? 1 : 0}; is_value=1 ;;`;
    });
    const plain = argumentsOf(command);
    return `    ${command})
      options="${flags(entries).join(" ")}"
      words="${Array.isArray(plain) ? plain.join(" ") : ""}"
      files=${plain === "files" ? 1 : 0}
      case "$previous" in
${cases.length === 0 ? "        *) ;;" : cases.join("\n")}
      esac
      ;;`;
  });
  return `# Completes adk-metrics in bash. Made by: adk-metrics completion bash
_adk_metrics() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD - 1]}" word
  local options="" words="" files=0 is_value=0
  COMPREPLY=()
  # bash splits --option=value at the equals sign, and replay:file at the colon.
  if [[ $current == "=" ]]; then current=""; fi
  if [[ $previous == "=" ]]; then previous="\${COMP_WORDS[COMP_CWORD - 2]}"; fi
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W "${COMMANDS.join(" ")} --help --version" -- "$current"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${commands.join("\n")}
    help) words="${COMMANDS.join(" ")}" ;;
  esac
  if ((is_value == 0)) && [[ $current == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$current"))
    return
  fi
  [[ -n $words ]] && COMPREPLY=($(compgen -W "$words" -- "$current"))
  if ((files == 1)); then
    compopt -o filenames 2>/dev/null
    while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$current")
  fi
}
complete -F _adk_metrics adk-metrics
`;
}

/** A text in single quotes, for a shell. */
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** The first sentence of an option's help, which fits a menu; of a long one the words that do. */
function brief(help: string): string {
  const sentence = help.replace(/(?<=[a-z)])[.:;] .*|\.$/s, "");
  if (sentence.length <= 70) return sentence;
  const start = sentence.slice(0, 70);
  return `${start.slice(0, start.lastIndexOf(" ")).replace(/,$/, "")}…`;
}

function zsh(): string {
  const commands = COMMANDS.map((command) => {
    const specs = entriesOf(command).flatMap(({ name, short, value, words, takesPath, isRepeatable, help }) => {
      const plain = brief(help).replace(/[[\]:]/g, " ");
      const options = words?.map((word) => word.replaceAll(":", "\\:")).join(" ");
      const list = `(${options ?? ""})`;
      const action = takesPath === true ? (words === undefined ? "_files" : `{compadd ${options}; _files}`) : list;
      const rest = value === undefined ? "" : `:${name}:${words === undefined && takesPath !== true ? "" : action}`;
      const spec = (flag: string) => quoted(`${isRepeatable === true ? "*" : ""}${flag}[${plain}]${rest}`);
      // The equals sign says that a value may come after one too.
      return [spec(`--${name}${value === undefined ? "" : "="}`), ...(short === undefined ? [] : [spec(`-${short}`)])];
    });
    const plain = argumentsOf(command);
    const others = plain === "files" ? [`'*:file:_files'`] : [quoted(`1:shell:(${plain.join(" ")})`)];
    return `    ${command}) _arguments ${[...specs, ...others].join(" \\\n      ")} ;;`;
  });
  return `#compdef adk-metrics
# Completes adk-metrics in zsh. Made by: adk-metrics completion zsh
_adk_metrics() {
  if ((CURRENT == 2)); then
    compadd -- ${COMMANDS.join(" ")} --help --version
    return
  fi
  local command="$words[2]"
  shift words
  ((CURRENT--))
  case "$command" in
${commands.join("\n")}
    help) _arguments ${quoted(`1:command:(${COMMANDS.join(" ")})`)} ;;
  esac
}
if [[ $funcstack[1] == _adk-metrics ]]; then _adk_metrics "$@"; else compdef _adk_metrics adk-metrics; fi
`;
}

function fish(): string {
  const lines = COMMANDS.flatMap((command) => {
    const on = `complete -c adk-metrics -n "__adk_metrics_command ${command}"`;
    const options = entriesOf(command).map(({ name, short, value, words, takesPath, help }) => {
      const parts = [on, `-l ${name}`];
      if (short !== undefined) parts.push(`-s ${short}`);
      if (value !== undefined) parts.push(takesPath === true ? "-r -F" : "-x");
      if (words !== undefined) parts.push(`-a ${quoted(words.join(" "))}`);
      return [...parts, `-d ${quoted(brief(help))}`].join(" ");
    });
    const plain = argumentsOf(command);
    const others = plain === "files" ? [] : [`${on} -f -a ${quoted(plain.join(" "))}`];
    return [...options, ...others];
  });
  return `# Completes adk-metrics in fish. Made by: adk-metrics completion fish
function __adk_metrics_command
  set -l words (commandline -opc)
  test "$words[2]" = $argv[1]
end
complete -c adk-metrics -n __fish_use_subcommand -f -a ${quoted(COMMANDS.join(" "))}
complete -c adk-metrics -n __fish_use_subcommand -l help -s h -d 'Show help'
complete -c adk-metrics -n __fish_use_subcommand -l version -s v -d 'Show the versions'
complete -c adk-metrics -n "__adk_metrics_command help" -f -a ${quoted(COMMANDS.join(" "))}
${lines.join("\n")}
`;
}
