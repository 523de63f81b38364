import { Button, TextInput } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import {
  getTemplate,
  getTemplateVersion,
  listTemplates,
  publishTemplate,
  saveTemplateDraft,
} from "../../../../../../server/features/templates/contract.ts";
import { callEndpoint } from "../../../../../shared/api/client.ts";
import { translator } from "../../../../../shared/i18n.ts";
import { Failure } from "../../../../../shared/ui/Failure.tsx";
import { useCan } from "../../../session.tsx";

const t = translator("send");

/** Keeps what was sent once for the next time, without the names of those it was sent to. */
export function SaveAsTemplate({ template: id, name: first }: { template: string; name: string }) {
  const queries = useQueryClient();
  const allowed = [useCan("template:write"), useCan("template:publish")].every(Boolean);
  const [name, setName] = useState(first);
  const [busy, setBusy] = useState(false);
  const [saved, setSaved] = useState(false);
  const [error, setError] = useState<unknown>(null);
  if (!allowed) return null;

  const save = async (event: FormEvent) => {
    event.preventDefault();
    if (!name.trim()) return;
    setBusy(true);
    setError(null);
    try {
      const sent = await callEndpoint(getTemplateVersion, { params: { id, version: "latest" } });
      const { content, roles, variables, settings } = sent;
      const body = {
        name: name.trim(),
        content,
        roles: roles.map((role) => ({ ...role, label: null })),
        variables,
        settings,
        listed: true,
      };
      await callEndpoint(saveTemplateDraft, { params: { id }, body });
      await callEndpoint(publishTemplate, { params: { id } });
      for (const { id: stale } of [listTemplates, getTemplate, getTemplateVersion]) {
        void queries.invalidateQueries({ queryKey: [stale] });
      }
      setSaved(true);
    } catch (reason) {
      setError(reason);
    } finally {
      setBusy(false);
    }
  };
  if (saved) {
    return (
      <p role="status" className="send-keep">
        {t("keep.done", { name: name.trim() })}{" "}
        <Link to="/templates/$id" params={{ id }}>
          {t("keep.open")}
        </Link>
      </p>
    );
  }
  return (
    <form className="send-keep" onSubmit={(event) => void save(event)}>
      <TextInput
        label={t("keep.name")}
        description={t("keep.text")}
        value={name}
        maxLength={200}
        disabled={busy}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <Button type="submit" variant="default" loading={busy} disabled={!name.trim()}>
        {t("keep.save")}
      </Button>
      {error !== null && <Failure error={error} />}
    </form>
  );
}
