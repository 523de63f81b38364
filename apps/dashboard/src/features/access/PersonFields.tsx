import { TextInput, type TextInputProps } from "@mantine/core";
import { translator } from "../../../../shared/i18n.ts";
import { Password } from "./Password.tsx";
import type { Bound } from "./useFields.ts";

/** What an access page asks a person for, always in the same words and known to browsers that fill it in (WCAG 1.3.5). */

const t = translator("access");
const line = { size: "md", required: true, withAsterisk: false } as const;

/** What people call the person. */
export function NameField(bound: Bound) {
  return <TextInput {...line} label={t("name")} autoComplete="name" {...bound} />;
}

/** The address that the account goes by. */
export function EmailField(props: TextInputProps) {
  return (
    <TextInput
      {...line}
      type="email"
      label={t("email")}
      autoComplete="username"
      inputMode="email"
      autoCapitalize="none"
      spellCheck={false}
      {...props}
    />
  );
}

/** A password that is chosen now, with the rule for it. */
export function NewPasswordField({ label, ...bound }: Bound & { label?: string }) {
  return <Password kind="new-password" label={label ?? t("password")} description={t("passwordRule")} {...bound} />;
}
