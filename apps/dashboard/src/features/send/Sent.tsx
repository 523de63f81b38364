import { Button } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef } from "react";
import type { Envelope } from "../../../../../server/features/envelopes/contract.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Check } from "../../../../shared/ui/icons.tsx";
import { MailNotice } from "../shell/MailNotice.tsx";

const t = translator("send");

type Props = {
  envelope: Envelope;
  onAnother: () => void;
  /** What else can be done now. */
  children?: ReactNode;
};

/** It is on its way. */
export function Sent({ envelope, onAnother, children }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  const first = Math.min(...envelope.recipients.map(({ order }) => order));
  const now = envelope.recipients.filter(({ order, delivery }) => order === first && delivery === "email");
  return (
    <div className="send-sent">
      <span className="send-sent-mark" aria-hidden="true">
        <Check size={36} />
      </span>
      <h1 ref={heading} tabIndex={-1}>
        {envelope.testMode ? t("sent.testTitle") : t("sent.title")}
      </h1>
      <p>
        <strong>{envelope.title}</strong>
      </p>
      <p className="soft">
        {now.length > 0 ? t("sent.text", { names: now.map(({ name }) => name).join(", ") }) : t("sent.embedded")}
      </p>
      {!envelope.testMode && now.length > 0 && <MailNotice />}
      {children}
      <div className="send-sent-actions">
        <Button renderRoot={(props) => <Link to="/envelopes/$id" params={{ id: envelope.id }} {...props} />}>
          {t("sent.open")}
        </Button>
        <Button variant="default" onClick={onAnother}>
          {t("sent.another")}
        </Button>
      </div>
    </div>
  );
}
