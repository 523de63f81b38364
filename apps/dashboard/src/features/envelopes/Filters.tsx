import { Button, NativeSelect, TextInput } from "@mantine/core";
import { useEffect, useRef, useState } from "react";
import { getTemplate } from "../../../../../server/features/templates/contract.ts";
import { useEndpoint } from "../../../../shared/api/queries.ts";
import { translator } from "../../../../shared/i18n.ts";
import { useShortcutsEnabled } from "../shell/shortcuts.ts";
import { EnvelopesSearch, isFiltered, maxQuery, seals, statuses } from "./search.ts";
import type { TemplateNames } from "./useTemplateNames.ts";

type Props = {
  search: EnvelopesSearch;
  /** `replace`: the address before is not worth going back to. */
  onSearch: (search: EnvelopesSearch, replace?: boolean) => void;
  templates: TemplateNames;
};

const typingMs = 300;

/** What the list is narrowed to; it stands in the address. */
export function Filters({ search, onSearch, templates }: Props) {
  const t = translator("envelopes");
  const { status, seal, template } = search;
  const choose = (change: Partial<Record<keyof EnvelopesSearch, string | undefined>>) =>
    onSearch(EnvelopesSearch.parse({ ...search, ...change }));
  return (
    <search className="envelopes-filters" aria-label={t("filters")}>
      <SearchBox search={search} onSearch={onSearch} />
      <NativeSelect
        label={t("filterStatus")}
        value={status ?? ""}
        onChange={({ currentTarget }) => choose({ status: currentTarget.value })}
        data={[
          { value: "", label: t("anyStatus") },
          ...statuses.map((value) => ({ value, label: t(`status.${value}`) })),
        ]}
      />
      <NativeSelect
        label={t("filterSeal")}
        value={seal ?? ""}
        onChange={({ currentTarget }) => choose({ seal: currentTarget.value })}
        data={[{ value: "", label: t("anySeal") }, ...seals.map((value) => ({ value, label: t(`seal.${value}`) }))]}
      />
      <TemplateFilter chosen={template} templates={templates} onChoose={(id) => choose({ template: id })} />
      {isFiltered(search) && (
        <Button variant="subtle" className="envelopes-clear" onClick={() => onSearch({})}>
          {t("clearFilters")}
        </Button>
      )}
    </search>
  );
}

/** Searches while the person types; one address for a word, not one for every letter. */
function SearchBox({ search, onSearch }: Omit<Props, "templates">) {
  const t = translator("envelopes");
  const { q = "" } = search;
  const [text, setText] = useState(q);
  const shortcuts = useShortcutsEnabled();
  const asked = useRef(q);
  useEffect(() => {
    // The address changed by other means than typing: the way back, or the filters were cleared.
    if (q !== asked.current) setText(q);
    asked.current = q;
  }, [q]);
  useEffect(() => {
    const wanted = text.trim();
    if (wanted === asked.current) return;
    const timer = setTimeout(() => {
      const typing = asked.current !== "" && wanted !== "";
      asked.current = wanted;
      onSearch({ ...search, q: wanted || undefined }, typing);
    }, typingMs);
    return () => clearTimeout(timer);
  }, [text, search, onSearch]);
  return (
    <TextInput
      type="search"
      className="envelopes-search"
      label={t("search")}
      placeholder={t("searchPlaceholder")}
      maxLength={maxQuery}
      value={text}
      onChange={({ currentTarget }) => setText(currentTarget.value)}
      {...(shortcuts ? { "aria-keyshortcuts": "/" } : {})}
    />
  );
}

type TemplateFilterProps = {
  chosen: string | undefined;
  templates: TemplateNames;
  onChoose: (id: string | undefined) => void;
};

function TemplateFilter({ chosen, templates, onChoose }: TemplateFilterProps) {
  const t = translator("envelopes");
  const known = chosen === undefined || templates.names.has(chosen);
  const other = useEndpoint(getTemplate, { params: { id: chosen ?? "" } }, { enabled: !known });
  const data = [...templates.names].map(([value, label]) => ({ value, label }));
  if (chosen !== undefined && !known) data.unshift({ value: chosen, label: other.data?.name ?? chosen });
  return (
    // The browser's own list: it jumps to what is typed, and the first load stays small.
    <NativeSelect
      label={t("filterTemplate")}
      data={[{ value: "", label: t("anyTemplate") }, ...data]}
      value={chosen ?? ""}
      onChange={({ currentTarget }) => onChoose(currentTarget.value || undefined)}
    />
  );
}
