import { Button, Menu } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { deleteTemplate, listTemplates, type Template } from "../../../../../server/features/templates/contract.ts";
import { callEndpoint, ProblemResponse } from "../../../../shared/api/client.ts";
import { translator } from "../../../../shared/i18n.ts";
import { useConfirm } from "../../../../shared/ui/kit/Confirm.tsx";
import { notify } from "../../../../shared/ui/kit/notify.tsx";
import { PageHeader } from "../../../../shared/ui/kit/PageHeader.tsx";
import { useCan } from "../../session.tsx";

type Props = {
  template: Template;
  /** As it stands in the draft. */
  name?: string;
  description?: ReactNode;
  /** The step beside sending. */
  primary?: ReactNode;
  /** Sending is what comes next. */
  sendFirst?: boolean;
  /** Further entries of the menu. */
  entries?: { label: string; onClick: () => void }[];
};

/** The head of a template's page: sending, what comes next, and a menu with the rest. */
export function TemplateHeader({ template, name, description, primary, sendFirst = false, entries = [] }: Props) {
  const t = translator("templates");
  const confirm = useConfirm();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const canWrite = useCan("template:write");
  const canSend = useCan("envelope:send");
  const published = template.latestVersion !== null;

  const remove = async () => {
    if (template.inUse) {
      await confirm({ title: t("delete.usedTitle"), text: t("delete.used"), confirm: t("delete.understood") });
      return;
    }
    const agreed = await confirm({
      title: t("delete.title", { name: template.name }),
      text: t("delete.text"),
      confirm: t("delete.confirm"),
      danger: true,
    });
    if (!agreed) return;
    try {
      await callEndpoint(deleteTemplate, { params: { id: template.id } });
      await queries.invalidateQueries({ queryKey: [listTemplates.id] });
      notify({ message: t("delete.done", { name: template.name }), tone: "good" });
      await navigate({ to: "/templates" });
    } catch (error) {
      const used = error instanceof ProblemResponse && error.problem.code === "template-in-use";
      notify({
        message: used ? t("delete.used") : String(error instanceof Error ? error.message : error),
        tone: "bad",
      });
    }
  };

  return (
    <PageHeader
      title={name ?? template.name}
      back={{ to: "/templates", label: t("list.title") }}
      description={description}
      actions={
        <>
          {published && canSend && (
            <>
              <Button
                variant={sendFirst ? "filled" : "default"}
                renderRoot={(props) => <Link {...props} to="/send" search={{ template: template.id }} />}
              >
                {template.hasDraft ? t("sendVersion", { version: template.latestVersion ?? "" }) : t("send")}
              </Button>
              <Button
                variant="default"
                renderRoot={(props) => <Link {...props} to="/bulk" search={{ template: template.id }} />}
              >
                {template.hasDraft ? t("bulkVersion", { version: template.latestVersion ?? "" }) : t("bulk")}
              </Button>
            </>
          )}
          {primary}
          {(entries.length > 0 || canWrite) && (
            <Menu position="bottom-end" withinPortal>
              <Menu.Target>
                <Button variant="default">{t("more")}</Button>
              </Menu.Target>
              <Menu.Dropdown>
                {entries.map(({ label, onClick }) => (
                  <Menu.Item key={label} onClick={onClick}>
                    {label}
                  </Menu.Item>
                ))}
                {canWrite && (
                  <Menu.Item color="brick" onClick={() => void remove()}>
                    {t("delete.open")}
                  </Menu.Item>
                )}
              </Menu.Dropdown>
            </Menu>
          )}
        </>
      }
    />
  );
}
