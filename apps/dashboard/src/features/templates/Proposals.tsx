import { Button, Group } from "@mantine/core";
import { useState } from "react";
import { proposeFields } from "../../../../../server/features/templates/contract.ts";
import { useEndpoint } from "../../../../shared/api/queries.ts";
import { translator } from "../../../../shared/i18n.ts";
import { store, stored } from "../../../../shared/storage.ts";
import type { Edit } from "./editing.ts";
import type { Draft } from "./model.ts";
import { takeProposals, takesForm } from "./proposals.ts";

type Props = {
  template: string;
  draft: Draft;
  edit: Edit;
  /** The roles are chosen elsewhere. */
  ownRoles?: boolean;
};

const place = (file: string) => `signet.proposals.${file}`;

/** Offers the fields that the document asks for, once for each file, and says what becomes of the PDF's own form. */
export function Proposals({ template, draft, edit, ownRoles = false }: Props) {
  const t = translator("templates");
  const { file } = draft;
  const [answered, setAnswered] = useState<string | null>(null);
  const found = useEndpoint(proposeFields, { params: { id: template, file } });
  const { data } = found;
  if (!data || data.data.length === 0) return null;
  const count = { form: 0, tag: 0, line: 0 };
  for (const { source } of data.data) count[source] += 1;
  const taken = new Set(draft.items.map(({ id }) => id));
  const open = data.data.filter(({ field }) => !taken.has(field.id)).length;
  const isOpen = open === data.data.length && answered !== file && stored("session", place(file)) === null;
  const answer = () => {
    store("session", place(file), "1");
    setAnswered(file);
  };
  if (isOpen) {
    return (
      <div className="notice proposals" role="status">
        <strong>{t("proposals.found", { count: open })}</strong>
        {(["form", "tag", "line"] as const)
          .filter((source) => count[source] > 0)
          .map((source) => t(`proposals.${source}`, { count: count[source] }))
          .join(" ")}
        <Group gap="xs" mt="xs">
          <Button
            size="compact-sm"
            onClick={() => {
              answer();
              edit((now) => takeProposals(now, data, { ownRoles }));
            }}
          >
            {t("proposals.take", { count: open })}
          </Button>
          <Button size="compact-sm" variant="default" onClick={answer}>
            {t("proposals.leave")}
          </Button>
        </Group>
      </div>
    );
  }
  if (count.form === 0) return null;
  return <p className="hint">{t(takesForm(draft, data) ? "proposals.formTaken" : "proposals.formKept")}</p>;
}
