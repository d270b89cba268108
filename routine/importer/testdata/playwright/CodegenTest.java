import com.microsoft.playwright.*;
import com.microsoft.playwright.options.*;
import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import java.util.*;

public class CodegenTest {
  public static void main(String[] args) {
    try (Playwright playwright = Playwright.create()) {
      Browser browser = playwright.chromium().launch(new BrowserType.LaunchOptions()
        .setHeadless(false));
      BrowserContext context = browser.newContext();
      Page page = context.newPage();
      page.navigate("https://shop.example/");
      page.getByRole(AriaRole.BUTTON, new Page.GetByRoleOptions().setName("Accept all")).click();
      page.getByLabel("Search").fill("lamp");
      page.getByLabel("Search").press("Enter");
      page.getByRole(AriaRole.LISTITEM).filter(new Locator.FilterOptions().setHasText("Desk lamp")).getByRole(AriaRole.LINK).click();
      Page page1 = page.waitForPopup(() -> {
        page.getByText("Data sheet").click();
      });
      page1.getByText("Close").click();
      page.locator("#pieces").selectOption(new SelectOption().setLabel("two"));
      page.getByLabel("Password").fill("planted-Secret");
      assertThat(page.getByText("In your basket")).isVisible();
      assertThat(page).hasTitle("Basket");
      assertThat(page.locator("#total")).hasText("19.00");
      page.waitForTimeout(250);
      String total = page.locator("#total").innerText();
      System.out.println(total);
    }
  }
}
