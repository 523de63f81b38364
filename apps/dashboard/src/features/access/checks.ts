import { passwordLength } from "../../../../../server/features/identity/contract.ts";
import { Email } from "../../../../../server/kernel/wire.ts";
import { translator } from "../../../../shared/i18n.ts";

const t = translator("access");

/** What is wrong with each value, in the page's language; nothing for what is right. */
const rules = {
  email: (value: string) => (Email.safeParse(value.trim()).success ? null : t("error.email")),
  /** One that exists: only the service knows whether it is right. */
  password: (value: string) => (value === "" ? t("error.password") : null),
  newPassword: (value: string) => {
    const length = [...value].length;
    if (length < passwordLength.min) return t("error.shortPassword", { count: passwordLength.min });
    return length > passwordLength.max ? t("error.longPassword", { count: passwordLength.max }) : null;
  },
  name: (value: string) => (value.trim() === "" ? t("error.name") : null),
  organization: (value: string) => (value.trim() === "" ? t("error.organization") : null),
  code: (value: string) => (/^\d{6}$/.test(value.replace(/\s/g, "")) ? null : t("error.code")),
} as const;

/** A check of several fields, each by the rule named for it. */
export function checked<V extends Record<string, string>>(fields: { [K in keyof V]: keyof typeof rules | null }) {
  return (values: V): Partial<Record<keyof V, string>> => {
    const errors: Partial<Record<keyof V, string>> = {};
    for (const name of Object.keys(fields) as (keyof V)[]) {
      const rule = fields[name];
      const error = rule === null ? null : rules[rule](values[name] ?? "");
      if (error !== null) errors[name] = error;
    }
    return errors;
  };
}
