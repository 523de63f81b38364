import { translator } from "../../../../shared/i18n.ts";
import type { Finding } from "./check.ts";

const t = translator("send");

/** What is wrong, in a sentence. */
export function explain({ code, detail, pointer }: Finding): string {
  if (detail !== null) return detail;
  if (code === "format" && pointer.endsWith("/email")) return t("wrong.email");
  if (code === "format" && pointer.endsWith("/phone")) return t("wrong.phone");
  if (pointer === "#/expiresAt")
    return code === "required" || code === "format" ? t("wrong.day") : t("wrong.expiresAt");
  if (pointer.startsWith("#/reminders")) return t("wrong.days");
  if (pointer.startsWith("#/metadata/~") && code === "pattern") return t("wrong.metadataKey");
  return t(`wrong.${code}`);
}
