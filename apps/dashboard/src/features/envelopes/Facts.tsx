import { Button } from "@mantine/core";
import { useClipboard } from "@mantine/hooks";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Envelope } from "../../../../../server/features/envelopes/contract.ts";
import { getTemplate } from "../../../../../server/features/templates/contract.ts";
import { useEndpoint } from "../../../../shared/api/queries.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { When } from "../../../../shared/ui/kit/When.tsx";
import { useCan, useSession } from "../../session.tsx";
import { useDeletedAt, useDownload, useEvidence, versionsOf } from "./download.ts";
import { inZone, languageName, number } from "./format.ts";
import { actorName } from "./sentences.ts";

/** The files of an envelope, and where their reader can check them. */
export function Files({ envelope }: { envelope: Envelope }) {
  const t = translator("envelopes");
  const download = useDownload(envelope);
  const evidence = useEvidence(envelope);
  const clipboard = useClipboard({ timeout: 3000 });
  const deletedAt = useDeletedAt(envelope);
  const versions = deletedAt === null ? versionsOf(envelope) : [];
  const { sealedSha256, pageCount, anchorSequence } = envelope;
  return (
    <section className="envelope-card" aria-labelledby="files">
      <h2 id="files">{t("documents.evidence")}</h2>
      {deletedAt !== null && (
        <p className="soft">
          {t("retention.deletedAt")} <When at={deletedAt} />
        </p>
      )}
      {deletedAt === null && versions.length === 0 && <p className="soft">{t("documents.notReady")}</p>}
      {pageCount !== null && <p className="soft">{t("documents.pages", { count: pageCount })}</p>}
      <div className="envelope-files">
        {versions.map((version) => (
          <Button
            key={version}
            variant={version === "sealed" ? "filled" : "default"}
            loading={download.isPending && download.variables === version}
            onClick={() => download.mutate(version)}
          >
            {t(`documents.downloadOf.${version}`)}
          </Button>
        ))}
        {deletedAt === null && anchorSequence !== null && (
          <Button variant="default" loading={evidence.isPending} onClick={() => evidence.mutate()}>
            {t("documents.downloadEvidence")}
          </Button>
        )}
      </div>
      {download.isError && <Failure error={download.error} />}
      {evidence.isError && <Failure error={evidence.error} />}
      {sealedSha256 !== null && (
        <div className="envelope-verify">
          <a href="/verify">{t("documents.verifyOpen")}</a>
          <button
            type="button"
            className="plain"
            onClick={() => clipboard.copy(new URL("/verify", window.location.href).href)}
          >
            {clipboard.copied ? t("page.copied") : t("documents.verify")}
          </button>
          <span className="spoken" role="status">
            {clipboard.copied ? t("page.copied") : ""}
          </span>
          <small className="soft">{t("documents.verifyHint")}</small>
          <small className="soft">
            {t("documents.sha256")}: <code>{sealedSha256}</code>
          </small>
        </div>
      )}
    </section>
  );
}

/** Everything about an envelope that is no person, no file and no event. */
export function Facts({ envelope }: { envelope: Envelope }) {
  const t = translator("envelopes");
  const timeZone = useSession().organization?.timeZone;
  const metadata = Object.entries(envelope.metadata);
  const { sentAt, completedAt, sealedAt, expiresAt, sealLevel, anchorSequence, externalId, message } = envelope;
  return (
    <section className="envelope-card" aria-labelledby="facts">
      <h2 id="facts">{t("facts.title")}</h2>
      <dl className="envelope-facts">
        <Fact name={t("facts.template")}>
          <TemplateLink envelope={envelope} />
        </Fact>
        <Fact name={t("facts.deadline")}>{expiresAt ? inZone(expiresAt, timeZone) : t("facts.noDeadline")}</Fact>
        <Fact name={t("facts.reminders")}>{remindersOf(envelope)}</Fact>
        <Fact name={t("facts.locale")}>{languageName(envelope.locale)}</Fact>
        <Fact name={t("facts.createdBy")}>{actorName(envelope.createdBy)}</Fact>
        <Fact name={t("facts.source")}>{t(`facts.sources.${envelope.source}`)}</Fact>
        <Fact name={t("facts.created")}>
          <When at={envelope.createdAt} />
        </Fact>
        {sentAt && (
          <Fact name={t("facts.sent")}>
            <When at={sentAt} />
          </Fact>
        )}
        {completedAt && (
          <Fact name={t("facts.completed")}>
            <When at={completedAt} />
          </Fact>
        )}
        {sealedAt && (
          <Fact name={t("facts.sealed")}>
            <When at={sealedAt} />
          </Fact>
        )}
        {sealLevel && <Fact name={t("facts.level")}>PAdES {sealLevel}</Fact>}
        {sealedAt && (
          <Fact name={t("facts.anchor")}>
            {anchorSequence === null ? t("facts.anchorNone") : number(anchorSequence)}
          </Fact>
        )}
        {externalId && <Fact name={t("facts.externalId")}>{externalId}</Fact>}
        {metadata.map(([key, value]) => (
          <Fact key={key} name={key}>
            {value}
          </Fact>
        ))}
      </dl>
      {message && (
        <>
          <h3>{t("page.message")}</h3>
          <blockquote dir="auto">{message}</blockquote>
        </>
      )}
    </section>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt dir="auto">{name}</dt>
      <dd dir="auto">{children}</dd>
    </>
  );
}

function TemplateLink({ envelope: { template, templateVersion } }: { envelope: Envelope }) {
  const t = translator("envelopes");
  const enabled = useCan("template:read");
  const { data } = useEndpoint(getTemplate, { params: { id: template } }, { enabled });
  const version = t("facts.version", { version: templateVersion });
  return (
    <>
      <Link to="/templates/$id" params={{ id: template }}>
        {data?.name ?? template}
      </Link>
      , {version}
    </>
  );
}

function remindersOf({ reminders }: Envelope): string {
  const t = translator("envelopes");
  if (reminders === null) return t("facts.noReminders");
  const { firstAfterDays, everyDays, max } = reminders;
  return [
    t("facts.remindersFirst", { count: firstAfterDays }),
    ...(everyDays === null ? [] : [t("facts.remindersEvery", { count: everyDays })]),
    t("facts.remindersMax", { count: max }),
  ].join(", ");
}
