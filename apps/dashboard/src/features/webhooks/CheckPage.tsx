import { Button, Group, Textarea, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { dateTime, translator } from "../../../../shared/i18n.ts";
import { PageHeader } from "../../../../shared/ui/kit/PageHeader.tsx";
import { useRefusals } from "../../../../shared/ui/kit/useRefusals.ts";
import { Code } from "./Code.tsx";
import { checkSignature, type Pasted, type Verdict } from "./check.ts";
import "./webhooks.css";
import "./words.ts";

const sample = `import { createHmac, timingSafeEqual } from "node:crypto";

export function isGenuine(headers, rawBody, secret) {
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const id = headers["webhook-id"];
  const timestamp = headers["webhook-timestamp"];
  const signed = createHmac("sha256", key).update(\`\${id}.\${timestamp}.\${rawBody}\`).digest();
  const recent = Math.abs(Date.now() / 1000 - Number(timestamp)) < 300;
  return recent && headers["webhook-signature"].split(" ").some((one) => {
    const [version, value] = one.split(",");
    const given = Buffer.from(value ?? "", "base64");
    return version === "v1" && given.length === signed.length && timingSafeEqual(given, signed);
  });
}`;

const nothing: Pasted = { secret: "", id: "", timestamp: "", signature: "", body: "" };

/** Tells whether a signature that somebody received is right, and what is wrong with it. */
export function CheckPage() {
  const t = translator("webhooks");
  const [pasted, setPasted] = useState(nothing);
  const [verdict, setVerdict] = useState<Verdict | null>(null);
  const { form, refuse } = useRefusals();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const found = checkSignature(pasted, Date.now());
    setVerdict(found);
    if (found.kind === "malformed") refuse();
  };
  const field = (name: keyof Pasted) => ({
    value: pasted[name],
    dir: "ltr",
    autoComplete: "off",
    spellCheck: false,
    classNames: { input: "webhook-typed" },
    error: verdict?.kind === "malformed" && verdict.fields.includes(name) ? t(`check.${verdict.problem}`) : undefined,
    onChange: (event: { currentTarget: { value: string } }) => {
      const { value } = event.currentTarget;
      setPasted((now) => ({ ...now, [name]: value }));
      setVerdict(null);
    },
  });
  return (
    <>
      <PageHeader
        title={t("check.title")}
        description={t("check.description")}
        back={{ to: "/settings/webhooks", label: t("title") }}
      />
      <p className="notice">{t("check.local")}</p>
      <form ref={form} className="webhook-form webhook-check" noValidate onSubmit={submit}>
        <TextInput label={t("check.secret")} description={t("check.secretHint")} {...field("secret")} />
        <TextInput label={<code>webhook-id</code>} {...field("id")} />
        <TextInput
          label={<code>webhook-timestamp</code>}
          description={t("check.timestampHint")}
          inputMode="numeric"
          {...field("timestamp")}
        />
        <TextInput label={<code>webhook-signature</code>} {...field("signature")} />
        <Textarea label={t("check.body")} description={t("check.bodyHint")} rows={6} {...field("body")} />
        <Group>
          <Button type="submit">{t("check.submit")}</Button>
        </Group>
        <div role="status">{verdict && <Result verdict={verdict} />}</div>
      </form>
      <section className="settings-section" aria-labelledby="check-how">
        <h2 id="check-how">{t("check.how")}</h2>
        <p>{t("check.howText")}</p>
        <p>{t("check.code")}</p>
        <Code label={t("check.code")} text={sample} copy={t("copy")} />
      </section>
    </>
  );
}

function Result({ verdict }: { verdict: Verdict }) {
  const t = translator("webhooks");
  const at = (ms: number) => dateTime(new Date(ms).toISOString());
  switch (verdict.kind) {
    case "malformed":
      return null;
    case "valid":
      return <Notice title={t("check.valid")} text={t("check.validText")} good />;
    case "old":
      return <Notice title={t("check.old")} text={t("check.oldText", { at: at(verdict.at) })} good />;
    case "early":
      return <Notice title={t("check.early")} text={t("check.earlyText", { at: at(verdict.at) })} good />;
    case "changed":
      return <Notice title={t("check.changed")} text={t(`check.changedText.${verdict.how}`)} />;
    case "other-id":
      return (
        <Notice
          title={t("check.otherId")}
          text={t("check.otherIdText", { body: verdict.body, header: verdict.header })}
        />
      );
    case "mismatch":
      return (
        <div className="notice bad">
          <strong>{t("check.mismatch")}</strong>
          {t("check.mismatchText")}
          <ul className="plain-list">
            {(["body", "secret", "headers"] as const).map((cause) => (
              <li key={cause}>{t(`check.causes.${cause}`)}</li>
            ))}
          </ul>
        </div>
      );
  }
}

function Notice({ title, text, good = false }: { title: string; text: string; good?: boolean }) {
  return (
    <div className={good ? "notice" : "notice bad"}>
      <strong>{title}</strong>
      {text}
    </div>
  );
}
