document.title="Linkspan";
