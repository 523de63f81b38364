import { eventExamples } from "../../../../../server/features/webhooks/examples.ts";
import { translator } from "../../../../shared/i18n.ts";
import { PageHeader } from "../../../../shared/ui/kit/PageHeader.tsx";
import { Code } from "./Code.tsx";
import { sentTypes } from "./types.ts";
import "./webhooks.css";
import "./words.ts";

/** Every type of event: when it is sent, and what it looks like. */
export function EventsPage() {
  const t = translator("webhooks");
  return (
    <>
      <PageHeader
        title={t("events.title")}
        description={t("events.description")}
        back={{ to: "/settings/webhooks", label: t("title") }}
      />
      <p className="webhook-prose">{t("events.headers")}</p>
      <p className="webhook-prose">{t("events.order")}</p>
      {sentTypes.map((type) => (
        <section key={type} className="webhook-event" aria-labelledby={type}>
          <h2 id={type}>
            <code>{type}</code>
          </h2>
          <p>{t(`events.when.${type}`)}</p>
          <details>
            <summary aria-label={t("events.exampleOf", { type })}>{t("events.example")}</summary>
            <Code
              label={t("events.exampleOf", { type })}
              text={JSON.stringify(eventExamples[type], null, 2)}
              copy={t("events.copy")}
            />
          </details>
        </section>
      ))}
    </>
  );
}
