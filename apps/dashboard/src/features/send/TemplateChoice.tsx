import { Button, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useState } from "react";
import { getTemplateVersion, listTemplates, type Template } from "../../../../../server/features/templates/contract.ts";
import { useEndpoint } from "../../../../shared/api/queries.ts";
import { translator } from "../../../../shared/i18n.ts";
import { Failure } from "../../../../shared/ui/Failure.tsx";
import { Pages } from "../../../../shared/ui/icons.tsx";
import { Empty } from "../../../../shared/ui/kit/Empty.tsx";
import { Loading } from "../../../../shared/ui/kit/Loading.tsx";

const t = translator("send");
const pageSize = 10;

/** The published templates, to choose one of them. */
export function TemplateChoice({ onChoose }: { onChoose: (template: Template) => void }) {
  const [text, setText] = useState("");
  const [limit, setLimit] = useState(pageSize);
  const [q] = useDebouncedValue(text.trim(), 200);
  const query = { limit: String(limit), ...(q ? { q } : {}) };
  const list = useEndpoint(listTemplates, { query }, { keepPrevious: true });
  const published = list.data?.data.filter(({ latestVersion }) => latestVersion !== null) ?? [];
  return (
    <section className="send-templates" aria-label={t("template.choose")}>
      <TextInput
        type="search"
        label={t("template.search")}
        value={text}
        maxLength={200}
        onChange={(event) => {
          setText(event.currentTarget.value);
          setLimit(pageSize);
        }}
      />
      {list.isError && <Failure error={list.error} />}
      {list.isPending && <Loading rows={4} height={72} />}
      {list.data && published.length === 0 && (
        <Empty
          icon={<Pages size={32} />}
          title={q ? t("template.noneFound") : t("template.none")}
          text={q ? t("template.noneFoundText") : t("template.noneText")}
        />
      )}
      <ul className="send-template-list">
        {published.map((template) => (
          <li key={template.id}>
            <TemplateRow template={template} onChoose={onChoose} />
          </li>
        ))}
      </ul>
      {list.data?.hasMore && limit < 100 && (
        <Button
          variant="default"
          loading={list.isFetching}
          onClick={() => setLimit(Math.min(100, limit + 2 * pageSize))}
        >
          {t("template.more")}
        </Button>
      )}
    </section>
  );
}

function TemplateRow({ template, onChoose }: { template: Template; onChoose: (template: Template) => void }) {
  const version = useEndpoint(getTemplateVersion, { params: { id: template.id, version: "latest" } });
  const pages = version.data?.pageCount;
  return (
    <button type="button" className="send-template" onClick={() => onChoose(template)}>
      <span className="send-template-name">{template.name}</span>
      {template.description && <span className="soft">{template.description}</span>}
      <span className="send-template-facts">
        <span>{t("template.roles", { count: template.roles.length, roles: template.roles.join(", ") })}</span>
        <span>{typeof pages === "number" ? t("template.pages", { count: pages }) : " "}</span>
      </span>
    </button>
  );
}
