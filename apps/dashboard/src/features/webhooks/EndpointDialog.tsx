import { Button, Checkbox, Group, Radio, Stack, TextInput } from "@mantine/core";
import { type FormEvent, useState } from "react";
import type { EventType } from "../../../../../server/features/envelopes/audit-contract.ts";
import {
  createWebhookEndpoint,
  getWebhookEndpoint,
  listWebhookEndpoints,
  updateWebhookEndpoint,
  type WebhookEndpoint,
} from "../../../../../server/features/webhooks/contract.ts";
import { ProblemResponse } from "../../../../shared/api/client.ts";
import { useAct } from "../../../../shared/api/queries.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { Dialog } from "../../../../shared/ui/kit/Dialog.tsx";
import { fieldErrors } from "../../../../shared/ui/kit/fieldErrors.ts";
import { useRefusals } from "../../../../shared/ui/kit/useRefusals.ts";
import { useMode } from "../../mode.tsx";
import { sentTypes } from "./types.ts";
import "./webhooks.css";

/** A test is sent whatever the endpoint asks for. */
const offered = sentTypes.filter((type) => type !== "webhook.test");
const isOffered = (type: EventType) => offered.some((one) => one === type);

type Props = {
  /** The one to change; a new one is added without. */
  endpoint?: WebhookEndpoint;
  onClose: () => void;
  onDone: (endpoint: WebhookEndpoint) => void;
};

/** Asks where events go and which: for a new endpoint, or to change one. */
export function EndpointDialog({ endpoint, onClose, onDone }: Props) {
  const t = translator("webhooks");
  const { testMode } = useMode();
  const [url, setUrl] = useState(endpoint?.url ?? "");
  const [description, setDescription] = useState(endpoint?.description ?? "");
  const [which, setWhich] = useState(endpoint && endpoint.events.length > 0 ? "some" : "all");
  const [chosen, setChosen] = useState<ReadonlySet<EventType>>(() => new Set(endpoint?.events));
  const [checked, setChecked] = useState(false);
  const changes = [listWebhookEndpoints, getWebhookEndpoint];
  const create = useAct(createWebhookEndpoint, { changes });
  const update = useAct(updateWebhookEndpoint, { changes });
  const act = endpoint ? update : create;
  const { form, refuse } = useRefusals();
  const urlWrong = checked && !isHttps(url.trim());
  const eventsMissing = checked && which === "some" && chosen.size === 0;

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setChecked(true);
    if (!isHttps(url.trim()) || (which === "some" && chosen.size === 0)) return refuse();
    // What is chosen by the API and not offered here stays chosen.
    const events = which === "all" ? [] : [...offered.filter((type) => chosen.has(type)), ...others(chosen)];
    const words = description.trim();
    try {
      onDone(
        endpoint
          ? await update.mutateAsync({
              params: { id: endpoint.id },
              body: { url: url.trim(), description: words === "" ? null : words, events },
            })
          : await create.mutateAsync({
              body: { url: url.trim(), ...(words === "" ? {} : { description: words }), events, testMode },
            }),
      );
    } catch {
      // Shown in the form.
      refuse();
    }
  };
  const toggle = (type: EventType, on: boolean) => {
    const next = new Set(chosen);
    if (on) next.add(type);
    else next.delete(type);
    setChosen(next);
  };
  const urlError = urlWrong ? t("form.urlMissing") : refusalOfUrl(act.error);
  const descriptionError = fieldErrors(act.error)["#/description"];

  return (
    <Dialog
      opened
      onClose={onClose}
      busy={act.isPending}
      title={endpoint ? t("form.editTitle") : t("form.addTitle")}
      size="lg"
    >
      <form ref={form} className="webhook-form" noValidate onSubmit={(event) => void submit(event)}>
        <TextInput
          data-autofocus
          type="url"
          dir="ltr"
          label={t("form.url")}
          description={t("form.urlHint")}
          placeholder="https://"
          value={url}
          maxLength={2048}
          autoComplete="off"
          spellCheck={false}
          error={urlError}
          onChange={(event) => setUrl(event.currentTarget.value)}
        />
        <TextInput
          label={t("form.description")}
          description={t("form.descriptionHint")}
          value={description}
          maxLength={500}
          error={descriptionError}
          onChange={(event) => setDescription(event.currentTarget.value)}
        />
        {endpoint === undefined && <p className="soft">{t(testMode ? "form.testMode" : "form.liveMode")}</p>}
        <Radio.Group label={t("form.events")} value={which} onChange={setWhich}>
          <Stack gap="xs" mt="xs">
            <Radio value="all" label={t("form.all")} description={t("form.allHint")} />
            <Radio value="some" label={t("form.some")} />
          </Stack>
        </Radio.Group>
        {which === "some" && (
          <fieldset className="webhook-types" {...(eventsMissing && { "data-refused": true })}>
            <legend className="spoken">{t("form.some")}</legend>
            {offered.map((type) => (
              <Checkbox
                key={type}
                label={<code>{type}</code>}
                description={t(`events.when.${type}`)}
                checked={chosen.has(type)}
                onChange={(event) => toggle(type, event.currentTarget.checked)}
              />
            ))}
          </fieldset>
        )}
        {eventsMissing && (
          <p className="refused" role="alert">
            {t("form.eventsMissing")}
          </p>
        )}
        {act.isError && urlError === undefined && descriptionError === undefined && <Failure error={act.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose} disabled={act.isPending}>
            {translator("common")("cancel")}
          </Button>
          <Button type="submit" loading={act.isPending}>
            {endpoint ? t("form.save") : t("add")}
          </Button>
        </Group>
      </form>
    </Dialog>
  );
}

const others = (chosen: ReadonlySet<EventType>) => [...chosen].filter((type) => !isOffered(type));

/** As the service takes it: https, no user, no fragment. */
function isHttps(text: string): boolean {
  if (/\s|#/.test(text) || !URL.canParse(text)) return false;
  const url = new URL(text);
  return url.protocol === "https:" && url.username === "" && url.password === "";
}

function refusalOfUrl(error: unknown): string | undefined {
  if (error instanceof ProblemResponse && error.problem.code === "url-not-allowed")
    return translator("webhooks")("form.urlRefused");
  return fieldErrors(error)["#/url"];
}
