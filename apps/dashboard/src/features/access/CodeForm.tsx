import { Button, TextInput } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import { translator } from "../../../../shared/i18n.ts";
import { AccessFailure } from "./AccessFailure.tsx";
import { checked } from "./checks.ts";
import { useFields } from "./useFields.ts";

const t = translator("access");
const pause = 30;

type Props = {
  /** Tries the six digits; a refusal is shown. */
  onCode: (code: string) => Promise<void>;
  /** Mails another one. */
  onResend: () => Promise<void>;
  action: string;
};

/** Six digits from a mail. Typing or pasting the last one sends them. */
export function CodeForm({ onCode, onResend, action }: Props) {
  const fields = useFields({ code: "" }, { check: checked({ code: "code" }), submit: ({ code }) => onCode(code) });
  const [wait, setWait] = useState(pause);
  const [failure, setFailure] = useState<unknown>(null);
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  useEffect(() => {
    if (wait === 0) return;
    const timer = setTimeout(() => setWait(wait - 1), 1000);
    return () => clearTimeout(timer);
  }, [wait]);

  const resend = async () => {
    setFailure(null);
    setWait(pause);
    try {
      await onResend();
    } catch (error) {
      setFailure(error);
    }
  };
  const typed = (text: string) => {
    const code = text.replace(/\D/g, "").slice(0, 6);
    const before = fields.values.code;
    fields.set("code", code);
    if (code.length === 6 && before.length < 6) requestAnimationFrame(() => fields.form.current?.requestSubmit());
  };

  return (
    <form ref={fields.form} className="access-form" onSubmit={fields.onSubmit} noValidate>
      <AccessFailure error={fields.failure ?? failure} />
      <TextInput
        {...fields.bind("code")}
        ref={input}
        label={t("code.label")}
        onChange={(event) => typed(event.currentTarget.value)}
        inputMode="numeric"
        autoComplete="one-time-code"
        classNames={{ input: "code-input" }}
        size="lg"
        required
        withAsterisk={false}
      />
      <Button type="submit" size="md" fullWidth loading={fields.pending}>
        {action}
      </Button>
      <p className="access-quiet">
        {wait > 0 ? (
          t("code.wait", { count: wait })
        ) : (
          <button type="button" className="plain" onClick={() => void resend()}>
            {t("code.resend")}
          </button>
        )}
      </p>
    </form>
  );
}
