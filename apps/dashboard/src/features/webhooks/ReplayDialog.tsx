import { Button, Group, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import {
  listWebhookDeliveries,
  replayEvents,
  type WebhookEndpoint,
} from "../../../../../server/features/webhooks/contract.ts";
import { useAct } from "../../../../shared/api/queries.ts";
import { translator, zoneName } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { Dialog } from "../../../../shared/ui/kit/Dialog.tsx";
import { fieldErrors } from "../../../../shared/ui/kit/fieldErrors.ts";
import { notify } from "../../../../shared/ui/kit/notify.tsx";

const dayMs = 24 * 60 * 60 * 1000;
const keptMs = 90 * dayMs;

type Props = { endpoint: WebhookEndpoint; onDone: () => void; onClose: () => void };

/** Asks since when events are sent again: since the first failure, or a day ago, unless said otherwise. */
export function ReplayDialog({ endpoint, onDone, onClose }: Props) {
  const t = translator("webhooks");
  const { failingSince } = endpoint.health;
  const [since, setSince] = useState(() =>
    inputValue(failingSince === null ? Date.now() - dayMs : Date.parse(failingSince)),
  );
  const [checked, setChecked] = useState(false);
  const replay = useAct(replayEvents, { changes: [listWebhookDeliveries] });
  const at = Date.parse(since);
  const wrong = Number.isNaN(at) || at > Date.now();
  const error = checked && wrong ? t("replay.sinceMissing") : fieldErrors(replay.error)["#/since"];
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setChecked(true);
    if (wrong) return;
    try {
      const body = { since: new Date(at).toISOString() };
      const { events } = await replay.mutateAsync({ params: { id: endpoint.id }, body });
      notify({ message: t("replay.done", { count: events }) });
      onDone();
      onClose();
    } catch {
      // Shown in the dialog.
    }
  };
  return (
    <Dialog opened onClose={onClose} busy={replay.isPending} title={t("replay.title")}>
      <form className="webhook-form" noValidate onSubmit={(event) => void submit(event)}>
        <p>{t("replay.text")}</p>
        <TextInput
          data-autofocus
          type="datetime-local"
          label={t("replay.since")}
          description={t("replay.sinceHint", { zone: zoneName(new Date()) })}
          value={since}
          min={inputValue(Date.now() - keptMs)}
          max={inputValue(Date.now())}
          error={error}
          onChange={(event) => setSince(event.currentTarget.value)}
        />
        {replay.isError && error === undefined && <Failure error={replay.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} disabled={replay.isPending}>
            {translator("common")("cancel")}
          </Button>
          <Button type="submit" loading={replay.isPending}>
            {t("replay.confirm")}
          </Button>
        </Group>
      </form>
    </Dialog>
  );
}

/** A moment in the browser's time zone, to the minute, as an input has it: `2026-03-02T09:20`. */
function inputValue(ms: number): string {
  const ahead = new Date(ms).getTimezoneOffset() * 60_000;
  return new Date(ms - ahead).toISOString().slice(0, 16);
}
