/*
 * page_files - the files of analyzer/page, and docs/verdicts.md that it shows, by
 * PAGE_FILE(symbol, name, content type),
 * which whoever includes this defines: page_files.S for their bytes, page.c for their
 * names.
 */
PAGE_FILE(page_index, "index.html", "text/html; charset=utf-8")
PAGE_FILE(page_style, "page.css", "text/css; charset=utf-8")
PAGE_FILE(page_icon, "icon.svg", "image/svg+xml")
PAGE_FILE(page_app, "app.js", "text/javascript; charset=utf-8")
PAGE_FILE(page_ask, "ask.js", "text/javascript; charset=utf-8")
PAGE_FILE(page_element, "element.js", "text/javascript; charset=utf-8")
PAGE_FILE(page_words, "words.js", "text/javascript; charset=utf-8")
PAGE_FILE(page_rack_pairs, "rack_pairs.js", "text/javascript; charset=utf-8")
PAGE_FILE(page_kind, "kind.js", "text/javascript; charset=utf-8")
PAGE_FILE(page_verdicts, "verdicts.md", "text/markdown; charset=utf-8")
PAGE_FILE(page_racks, "racks.js", "text/javascript; charset=utf-8")
PAGE_FILE(page_rack, "rack.js", "text/javascript; charset=utf-8")
PAGE_FILE(page_counters, "counters.js", "text/javascript; charset=utf-8")
PAGE_FILE(page_ports, "ports.js", "text/javascript; charset=utf-8")
PAGE_FILE(page_hosts, "hosts.js", "text/javascript; charset=utf-8")
PAGE_FILE(page_mesh, "mesh.js", "text/javascript; charset=utf-8")
PAGE_FILE(page_incidents, "incidents.js", "text/javascript; charset=utf-8")
PAGE_FILE(page_incident, "incident.js", "text/javascript; charset=utf-8")
PAGE_FILE(page_history, "history.js", "text/javascript; charset=utf-8")
PAGE_FILE(page_past, "past.js", "text/javascript; charset=utf-8")
PAGE_FILE(page_past_region, "past_region.js", "text/javascript; charset=utf-8")
PAGE_FILE(page_chart, "chart.js", "text/javascript; charset=utf-8")
PAGE_FILE(page_services, "services.js", "text/javascript; charset=utf-8")
PAGE_FILE(page_sla, "sla.js", "text/javascript; charset=utf-8")
PAGE_FILE(page_agents, "agents.js", "text/javascript; charset=utf-8")
PAGE_FILE(page_daemons, "daemons.js", "text/javascript; charset=utf-8")
