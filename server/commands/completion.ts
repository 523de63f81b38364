import { type Command, print, UsageError } from "./command.ts";
import { type CommandEntry, commandEntries, entryOf } from "./list.ts";

/** Every command's name, verbs and options, for shells to complete. */

const shells = ["bash", "zsh", "fish"] as const;

export const completion: Command = {
  ...entryOf("completion"),
  usage: [
    "signet completion bash   > /etc/bash_completion.d/signet",
    "signet completion zsh    > a file _signet in a folder of $fpath",
    "signet completion fish   > ~/.config/fish/completions/signet.fish",
  ],
  async run(context) {
    const [shell, ...more] = context.positionals;
    const known = shells.find((name) => name === shell);
    if (!known || more.length > 0) throw new UsageError(`say ${shells.join(", ")}`);
    const script = writers[known](commandEntries);
    print(context, { shell: known, script }, script.trimEnd());
    return 0;
  },
};

const toldOf = ({ options, internal }: CommandEntry) =>
  Object.entries(options).filter(([name]) => !internal?.includes(name));
const optionsOf = (command: CommandEntry): string[] =>
  [...toldOf(command).map(([name]) => name), "json", "help"].map((name) => `--${name}`);
const subverbsOf = ({ subverbs }: CommandEntry): [string, string][] =>
  Object.entries(subverbs ?? {}).map(([verb, more]) => [verb, more.join(" ")]);
const takesValue = (command: CommandEntry): string[] =>
  toldOf(command).flatMap(([name, { type }]) => (type === "string" ? [`--${name}`] : []));

const writers: Readonly<Record<(typeof shells)[number], (commands: readonly CommandEntry[]) => string>> = {
  bash: (commands) => `# Completion of signet for bash
_signet() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} words= values=
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="${commands.map(({ name }) => name).join(" ")}"
  else
    case "\${COMP_WORDS[1]}" in
${commands
  .map((command) => {
    const verbs = (command.verbs ?? []).join(" ");
    const first = verbs ? `[ "$COMP_CWORD" -eq 2 ] && words="${verbs} $words"; ` : "";
    const second = subverbsOf(command)
      .map(([verb, more]) => `[ "$COMP_CWORD \${COMP_WORDS[2]}" = "3 ${verb}" ] && words="${more} $words"; `)
      .join("");
    return `      ${command.name}) words="${optionsOf(command).join(" ")}"; ${first}${second}values="${takesValue(command).join(" ")}" ;;`;
  })
  .join("\n")}
    esac
  fi
  # What follows an option with a value is a file, or something that only its user knows.
  case " $values " in *" $previous "*) COMPREPLY=($(compgen -f -- "$current")); return ;; esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _signet signet
`,
  zsh: (commands) => `#compdef signet
# Completion of signet for zsh
_signet() {
  if (( CURRENT == 2 )); then
    local -a names=(
${commands.map(({ name, summary }) => `      ${quoted(`${name}:${summary.replaceAll(":", "\\:")}`)}`).join("\n")}
    )
    _describe command names
    return
  fi
  local -a verbs=() subverbs=() options=()
  case "$words[2]" in
${commands
  .map(
    (command) =>
      `    ${command.name}) verbs=(${(command.verbs ?? []).map(quoted).join(" ")}) options=(${optionsOf(command).map(quoted).join(" ")})${subverbsOf(
        command,
      )
        .map(([verb, more]) => `; [[ $words[3] == ${verb} ]] && subverbs=(${more})`)
        .join("")} ;;`,
  )
  .join("\n")}
  esac
  (( CURRENT == 3 )) && compadd -a verbs
  (( CURRENT == 4 )) && compadd -a subverbs
  [[ $PREFIX == -* ]] && compadd -a options || _files
}
_signet "$@"
`,
  fish: (commands) =>
    [
      "# Completion of signet for fish",
      ...commands.map(
        ({ name, summary }) => `complete -c signet -n __fish_use_subcommand -f -a ${name} -d ${quoted(summary)}`,
      ),
      ...commands.flatMap((command) => {
        const here = `complete -c signet -n '__fish_seen_subcommand_from ${command.name}'`;
        const values = takesValue(command);
        return [
          ...(command.verbs ?? []).map((verb) => `${here} -a ${verb}`),
          ...subverbsOf(command).map(
            ([verb, more]) =>
              `complete -c signet -n '__fish_seen_subcommand_from ${command.name}; and __fish_seen_subcommand_from ${verb}' -a ${quoted(more)}`,
          ),
          ...optionsOf(command).map((option) => `${here} -l ${option.slice(2)}${values.includes(option) ? " -r" : ""}`),
        ];
      }),
      "",
    ].join("\n"),
};

/** For a shell, between single quotes. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
