"use strict";

// The search of a shop whose results come late: the address changes at once,
// the list only after the answer and a pause.
(() => {
  const RENDER_DELAY_MS = 150;

  const form = document.querySelector("#search-form");
  const input = document.querySelector("#q");
  const status = document.querySelector("#status");
  const results = document.querySelector("#results");
  let latest = 0;

  function show(state, text, items) {
    status.textContent = text;
    results.replaceChildren(...items);
    results.dataset.state = state;
  }

  function element(tag, className, text) {
    const made = document.createElement(tag);
    made.className = className;
    made.textContent = text;
    return made;
  }

  function productItem(product) {
    const item = element("li", "product", "");
    item.dataset.sku = product.sku;
    const name = element("a", "name", product.name);
    name.href = "/product/" + encodeURIComponent(product.sku);
    const price = element("span", "price", product.price.toFixed(2) + " " + product.currency);
    price.dataset.price = product.price.toFixed(2);
    const stock = element("span", "stock", product.stock > 0 ? "In stock: " + product.stock : "Out of stock");
    stock.dataset.stock = product.stock;
    item.append(name, price, stock);
    return item;
  }

  function summary(count, query) {
    const topic = query ? ` for “${query}”` : "";
    if (count === 0) return `No results${topic}.`;
    return `${count} ${count === 1 ? "product" : "products"}${topic}.`;
  }

  async function search(query) {
    const turn = ++latest;
    show("searching", "Searching…", []);
    let state, text, items;
    try {
      const response = await fetch("/api/search?q=" + encodeURIComponent(query));
      if (!response.ok) throw new Error("status " + response.status);
      const { products } = await response.json();
      [state, text, items] = ["done", summary(products.length, query), products.map(productItem)];
    } catch (error) {
      [state, text, items] = ["failed", "The search failed: " + error.message, []];
    }
    setTimeout(() => {
      if (turn === latest) show(state, text, items);
    }, RENDER_DELAY_MS);
  }

  function searchFromAddress() {
    const query = new URLSearchParams(location.search).get("q");
    input.value = query ?? "";
    if (query === null) {
      latest++;
      show("idle", "", []);
    } else {
      search(query);
    }
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const query = input.value.trim();
    history.pushState(null, "", "/?q=" + encodeURIComponent(query) + "&page=1");
    search(query);
  });
  window.addEventListener("popstate", searchFromAddress);
  searchFromAddress();
})();
