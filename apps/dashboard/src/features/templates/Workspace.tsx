import { Tabs } from "@mantine/core";
import { useNavigate, useSearch } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { z } from "zod";
import { getTemplateDocument } from "../../../../../server/features/templates/contract.ts";
import { callEndpoint } from "../../../../shared/api/client.ts";
import { translator } from "../../../../shared/i18n.ts";
import type { Edit } from "./editing.ts";
import type { Draft } from "./model.ts";
import { PageEditor } from "./PageEditor.tsx";
import { RolesPanel } from "./RolesPanel.tsx";
import { SettingsPanel } from "./SettingsPanel.tsx";
import { VariablesPanel } from "./VariablesPanel.tsx";
import { VersionsPanel } from "./VersionsPanel.tsx";

const tabs = ["fields", "roles", "variables", "settings", "versions"] as const;
export const TemplateSearch = z.object({
  version: z.coerce.string().max(20).optional().catch(undefined),
  tab: z.enum(tabs).optional().catch(undefined),
});

type Props = {
  template: string;
  /** `draft` or a number. */
  version: string;
  draft: Draft;
  /** The file that the server shows for this version. */
  file: string;
  edit: Edit;
  readOnly: boolean;
  selected: readonly string[];
  onSelect: (ids: readonly string[]) => void;
  /** Above both columns. */
  notices?: ReactNode;
};

/** A version of a template: its pages with what lies on them, and beside them everything else it says. */
export function Workspace(props: Props) {
  const { template, version, draft, file, edit, readOnly, selected, onSelect } = props;
  const t = translator("templates");
  const navigate = useNavigate();
  const { tab = "fields" } = TemplateSearch.parse(useSearch({ strict: false }));
  return (
    <>
      {props.notices}
      <PageEditor
        document={{
          key: [getTemplateDocument.id, template, version, file],
          load: (signal) => callEndpoint(getTemplateDocument, { params: { id: template, version }, signal }),
        }}
        draft={draft}
        edit={edit}
        readOnly={readOnly}
        rendered={version !== "draft"}
        selected={selected}
        onSelect={onSelect}
        tab={tab}
        panel={(fields) => (
          <Tabs
            value={tab}
            keepMounted={false}
            onChange={(next) => {
              const chosen = tabs.find((known) => known === next);
              void navigate({
                to: "/templates/$id",
                params: { id: template },
                search: (before) => ({ ...before, ...(chosen ? { tab: chosen } : {}) }),
                replace: true,
                resetScroll: false,
              });
            }}
          >
            <Tabs.List>
              {tabs.map((name) => (
                <Tabs.Tab key={name} value={name}>
                  {t(`tab.${name}`)}
                </Tabs.Tab>
              ))}
            </Tabs.List>
            <Tabs.Panel value="fields">{fields}</Tabs.Panel>
            <Tabs.Panel value="roles">
              <RolesPanel draft={draft} edit={edit} readOnly={readOnly} />
            </Tabs.Panel>
            <Tabs.Panel value="variables">
              <VariablesPanel draft={draft} edit={edit} readOnly={readOnly} />
            </Tabs.Panel>
            <Tabs.Panel value="settings">
              <SettingsPanel draft={draft} edit={edit} readOnly={readOnly} />
            </Tabs.Panel>
            <Tabs.Panel value="versions">
              <VersionsPanel template={template} shown={version} />
            </Tabs.Panel>
          </Tabs>
        )}
      />
    </>
  );
}
