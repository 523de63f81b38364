import { Button, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { testMail } from "../../../../../../server/features/mail/queue-contract.ts";
import { translator } from "../../../../../shared/i18n.ts";
import { SecretInput } from "../../../../../shared/ui/SecretInput.tsx";
import { Failure } from "../../Failure.tsx";
import { wordsOf } from "../../finding-words.ts";
import { useLocalAct } from "../../local.ts";
import { Said, verbatim, Words } from "../../Said.tsx";

const t = translator("console");

/** Sends one mail now and shows how the mail server took it. */
export function MailTest() {
  const [to, setTo] = useState("");
  const [smtpUrl, setSmtpUrl] = useState("");
  const test = useLocalAct(testMail);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    test.mutate({ body: { to, ...(smtpUrl === "" ? {} : { smtpUrl }) } });
  };
  return (
    <form className="form" onSubmit={submit}>
      <TextInput
        label={t("mail.testTo")}
        type="email"
        required
        value={to}
        onChange={(event) => setTo(event.currentTarget.value)}
      />
      <SecretInput
        label={t("mail.testServer")}
        description={t("mail.testServerHint")}
        autoComplete="off"
        value={smtpUrl}
        onChange={(event) => setSmtpUrl(event.currentTarget.value)}
      />
      {test.isError && <Failure error={test.error} />}
      {test.isSuccess && (
        <div className={test.data.delivered ? "notice" : "notice bad"} role={test.data.delivered ? "status" : "alert"}>
          <strong>
            {test.data.delivered
              ? t(`mail.delivered.${test.data.by}`, { milliseconds: test.data.milliseconds })
              : t("mail.notDelivered")}
          </strong>
          {test.data.error !== null && <Said>{test.data.error}</Said>}
          {test.data.action !== null && (
            <p>
              <Words>{wordsOf("findings", `mailRemedy.${test.data.code}`, {}, test.data.action)}</Words>
            </p>
          )}
          {test.data.transcript.length > 0 && (
            <ol className="transcript" aria-label={t("mail.transcript")}>
              {test.data.transcript.map(({ from, text }, at) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: the conversation is over and its lines never move
                <li key={at} data-from={from}>
                  <b>{t(`mail.from.${from}`)}</b> <code {...verbatim()}>{text}</code>
                </li>
              ))}
            </ol>
          )}
        </div>
      )}
      <Button type="submit" loading={test.isPending}>
        {t("mail.send")}
      </Button>
    </form>
  );
}
