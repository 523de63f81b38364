import { Button, Group } from "@mantine/core";
import { useState } from "react";
import { type Envelope, getEnvelope, type Recipient } from "../../../../../server/features/envelopes/contract.ts";
import { type HandedCode, handOverSigningCode } from "../../../../../server/features/signing/contract.ts";
import { useAct } from "../../../../shared/api/queries.ts";
import { dateTime, translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { CopyField } from "../../../../shared/ui/kit/CopyField.tsx";
import { Dialog } from "../../../../shared/ui/kit/Dialog.tsx";

type Props = { envelope: Envelope; recipient: Recipient };

/** The code that staff give to a signer whose identity they checked themselves: made here, told once, printed. */
export function HandOver({ envelope, recipient }: Props) {
  const t = translator("envelopes");
  const [opened, setOpened] = useState(false);
  return (
    <>
      <Button
        size="compact-sm"
        variant="default"
        aria-label={`${t("handOver.open")}: ${recipient.name}`}
        onClick={() => setOpened(true)}
      >
        {t("handOver.open")}
      </Button>
      {opened && <HandOverDialog envelope={envelope} recipient={recipient} onClose={() => setOpened(false)} />}
    </>
  );
}

function HandOverDialog({ envelope, recipient, onClose }: Props & { onClose: () => void }) {
  const t = translator("envelopes");
  const [made, setMade] = useState<HandedCode | null>(null);
  const act = useAct(handOverSigningCode, { changes: [getEnvelope], onDone: setMade });
  return (
    // A code that is being made is told once: the dialog waits for it.
    <Dialog
      opened
      onClose={onClose}
      busy={act.isPending}
      closeOnClickOutside={false}
      title={t("handOver.title")}
      centered
    >
      {made ? (
        <Sheet envelope={envelope} recipient={recipient} made={made} onClose={onClose} />
      ) : (
        <>
          <p>{t("handOver.text", { name: recipient.name })}</p>
          <p className="soft">{t("handOver.before")}</p>
          {act.isError && (
            <div className="envelope-refusal">
              <Failure error={act.error} />
            </div>
          )}
          <Group justify="flex-end" mt="lg">
            <Button variant="default" onClick={onClose} disabled={act.isPending}>
              {translator("common")("cancel")}
            </Button>
            <Button
              data-autofocus
              loading={act.isPending}
              onClick={() => act.mutate({ params: { id: envelope.id, recipient: recipient.id } })}
            >
              {t("handOver.make")}
            </Button>
          </Group>
        </>
      )}
    </Dialog>
  );
}

/** What goes to the printer; nothing else of the page does. */
function Sheet({ envelope, recipient, made, onClose }: Props & { made: HandedCode; onClose: () => void }) {
  const t = translator("envelopes");
  return (
    <div className="hand-over-sheet">
      <p className="hand-over-for">
        <span dir="auto">{recipient.name}</span>
        <span className="soft" dir="auto">
          {envelope.title}
        </span>
      </p>
      <output className="hand-over-code" aria-label={t("handOver.code")}>
        {made.code}
      </output>
      <p>{t("handOver.enter", { time: dateTime(made.expiresAt) })}</p>
      <div className="hand-over-acts">
        <p className="notice">{t("handOver.once")}</p>
        <CopyField label={t("handOver.code")} value={made.code} />
        <Group justify="flex-end" mt="lg">
          <Button variant="default" onClick={() => window.print()}>
            {t("handOver.print")}
          </Button>
          <Button data-autofocus onClick={onClose}>
            {t("handOver.done")}
          </Button>
        </Group>
      </div>
    </div>
  );
}
